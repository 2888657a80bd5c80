# Common settings of all plots. Set before: width, height. Colours are those of palette.h, which the page replaces.
set encoding utf8
set micro
set terminal svg size width,height dynamic noenhanced font "sans-serif,13"
set border 3 lc rgb "#63666b" lw 1
set tics nomirror out scale 0.5 textcolor rgb "#63666b"
set grid lc rgb "#dcdfe1" lt 1 lw 0.7
set xlabel textcolor rgb "#63666b"
set ylabel textcolor rgb "#63666b"
set datafile separator "\t"
unset key
set dashtype 11 (6,4)
set dashtype 12 (2,3)
set dashtype 13 (10,3,2,3)
