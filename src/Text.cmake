# Text.cmake - a text that the program prints as an array of its lines, without empty ones and without comments as in C:
#     cmake -DIN=<text> -DNAME=<of the array> -DOUT=<a .c file to make> -P Text.cmake
# A line "#" ends the array.
file(READ ${IN} text)
string(REGEX REPLACE "/[*][^*]*[*]+([^/*][^*]*[*]+)*/\n" "" text "${text}")
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REGEX REPLACE "\n+" "\",\n    \"" text "${text}")
file(WRITE ${OUT} "extern const char *const ${NAME}[];\nconst char *const ${NAME}[] = {\n    \"${text}#\",\n};\n")
