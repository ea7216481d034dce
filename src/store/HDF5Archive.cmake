# HDF5 as the target tlmpi_hdf5: from its archive (libhdf5.a) where that stands next to the shared library and links with zlib
# and szip alone, else the shared library.
#
# Debian's shared library brings libcurl and some thirty libraries with it, for files on the network that nobody reads here:
# 6 MB of memory in every process.
add_library(tlmpi_hdf5 INTERFACE)
set(TLMPI_HDF5_SOURCE "
#include <hdf5.h>
int main(void)
{
    hid_t file = H5Fcreate(\"x\", H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), plist = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t none = 0;
    H5Pset_shuffle(plist);
    H5Pset_deflate(plist, 4);
    H5Pset_virtual(plist, file, \".\", \"x\", file);
    H5Dwrite_chunk(file, H5P_DEFAULT, 0, &none, 0, &none);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, NULL, NULL);
    return H5Dread(file, file, file, file, H5P_DEFAULT, &none) < 0 || H5Fclose(file) < 0;
}
")

set(TLMPI_HDF5_FROM hdf5::hdf5)
if(TLMPI_HDF5_ARCHIVE)
  include(CheckCSourceCompiles)
  find_package(Threads REQUIRED)
  foreach(library ${HDF5_C_LIBRARIES})
    if(library MATCHES "^/.*/libhdf5[^/]*$")
      get_filename_component(folder ${library} DIRECTORY)
      get_filename_component(stem ${library} NAME_WE)
      set(archive ${folder}/${stem}.a)
    endif()
  endforeach()
  find_library(TLMPI_SZIP sz)
  mark_as_advanced(TLMPI_SZIP)
  if(archive AND EXISTS ${archive})
    set(needs ZLIB::ZLIB Threads::Threads m ${CMAKE_DL_LIBS})
    if(TLMPI_SZIP)
      list(INSERT needs 0 ${TLMPI_SZIP})
    endif()
    set(CMAKE_REQUIRED_INCLUDES ${HDF5_C_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_LIBRARIES ${archive} ${needs})
    check_c_source_compiles("${TLMPI_HDF5_SOURCE}" TLMPI_HDF5_ARCHIVE_LINKS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(TLMPI_HDF5_ARCHIVE_LINKS)
      set(TLMPI_HDF5_FROM ${archive} ${needs})
      target_include_directories(tlmpi_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
    endif()
  endif()
endif()
target_link_libraries(tlmpi_hdf5 INTERFACE ${TLMPI_HDF5_FROM})
