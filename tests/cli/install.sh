#!/bin/sh
# install.sh BUILD - what cmake --install and cpack put where: programs that run from there, the page for man, completion, packages.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
build=$(cd "${1:?usage: $0 BUILD}" && pwd) || exit 2
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mpi_settings
cd "$work" || exit 2

echo "-- cmake --install"
check "it is installed below DESTDIR" env DESTDIR="$work/root" cmake --install "$build" --prefix /opt/tlmpi > install.log
bin=$work/root/opt/tlmpi/bin
for program in "$bin"/tlmpi "$bin"/tlmpi-serial; do
    check "$(basename "$program") runs" test "$("$program" --version | head -n 1)" = "$("$build/tlmpi-serial" --version | head -n 1)"
done
"$build/make_trace" -o traces --ranks 2 --steps 2 --no-truth
check "and analyses" "$bin/tlmpi-serial" -q -o result traces
check "the result is whole" "$bin/tlmpi-serial" show result.h5 breakdown > shown
page=$work/root/opt/tlmpi/share/man/man1/tlmpi.1
for command in CHECK SHOW ASK HTML DIFF DESCRIBE REPS WHATIF AUGMENT COMPAT; do
    check "the page for man has $command" grep -q "^\.SH \"TLMPI $command\"" "$page"
done
if command -v man > /dev/null && command -v groff > /dev/null; then
    check "man prints it without a warning" test -z "$(man --warnings -l "$page" 2>&1 > printed)"
    check "with the options" grep -q -e '--fail-on=LIST' printed
else
    skip "the page as man prints it: there is no man or groff"
fi

echo "-- completion"
if command -v bash > /dev/null; then
    cat > complete.bash << 'BASH'
source "$1"
COMP_WORDS=("$2" "$3" "$4")
COMP_CWORD=$5
_tlmpi
printf '%s\n' "${COMPREPLY[@]}"
BASH
    completed() { bash complete.bash "$work/root/opt/tlmpi/share/bash-completion/completions/tlmpi" "$bin/tlmpi-serial" "$@"; }
    check "a command" test "$(completed de '' 1)" = describe
    check "an option of a command" test "$(completed show --wh 2)" = --where
    check "an option of run" test "$(completed traces/ --least 2)" = --least-cost
    check "a file" test "$(completed ask resul 2)" = result.h5
else
    skip "completion: there is no bash"
fi

# names - of packages, from fields as Depends on stdin
names() { tr ',' '\n' | tr '|' '\n' | sed 's/ *(.*//; s/:.*//; s/ //g' | sort -u | xargs; }

# bare PACKAGES - $work/bare, a root of nothing but a shell and what the packages need, and what that needs, as it is installed here
bare()
{
    needed="dash coreutils libc-bin $(for package in "$@"; do dpkg-deb -f "$package" Depends && echo; done | names)" taken=" "
    while [ -n "$needed" ]; do
        more=
        for package in $needed; do
            case "$taken" in *" $package "*) continue ;; esac
            dpkg-query -s "$package" > one 2> /dev/null
            grep -q '^Status: .* installed' one || continue
            { cat one && echo; } >> status
            taken="$taken$package " more="$more $(sed -n 's/^\(Pre-\)*Depends: //p' one | names)"
        done
        needed=$(echo "$more" | xargs)
    done
    mkdir -p bare/var/lib/dpkg/info bare/var/lib/dpkg/updates bare/tmp
    mv status bare/var/lib/dpkg
    # shellcheck disable=SC2086  # names
    dpkg-query -L $taken | grep -v '^/usr/share/\(doc\|man\|locale\)/' | sort -u |
        while read -r path; do test ! -f "$path" || echo "$path"; done > paths
    tar -C / -chf - -T paths 2> tar.log | tar -C bare -xf -
}

echo "-- packages"
if command -v dpkg-deb > /dev/null && command -v dpkg-shlibdeps > /dev/null && command -v file > /dev/null; then
    check "cpack makes packages" cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages" > cpack.log
    for package in tlmpi libtlmpi-record libtlmpi-record-dev; do
        check "$package is one" test "$(dpkg-deb -f packages/"${package}"_*.deb Package)" = "$package"
    done
    check "tlmpi needs yajl" sh -c 'dpkg-deb -f packages/tlmpi_*.deb Depends | grep -q libyajl'
    mkdir unpacked
    # shellcheck disable=SC2016  # the inner shell expands
    check "it unpacks" sh -c 'for f in packages/*.deb; do dpkg-deb -x "$f" unpacked || exit 1; done'
    check "what is in it analyses" unpacked/usr/bin/tlmpi-serial -q -o other traces
    check "with the same tables" test "$(unpacked/usr/bin/tlmpi-serial show other.h5 --digest)" = "$("$bin/tlmpi-serial" show result.h5 --digest)"
    check "and the recorder's library" test -e unpacked/usr/lib/libtlmpi_record.so.0
    if [ "$(id -u)" -eq 0 ]; then
        bare packages/*.deb
        check "where nothing is but what they need, they are installed" dpkg --root="$work/bare" -i packages/*.deb > dpkg.log 2>&1 ||
            tail -n 5 dpkg.log
        cp -r traces bare/tmp
        for program in tlmpi tlmpi-serial; do
            check "and $program analyses there" chroot bare /usr/bin/env -i OMPI_ALLOW_RUN_AS_ROOT=1 \
                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 $program -q -o "/tmp/$program" /tmp/traces
        done
        check "with the same tables" test "$("$bin/tlmpi-serial" show bare/tmp/tlmpi.h5 --digest)" = "$("$bin/tlmpi-serial" show result.h5 --digest)"
    else
        skip "packages in a root of their own: only root may do that"
    fi
else
    skip "packages: there is no dpkg-deb, dpkg-shlibdeps or file"
fi

summary
