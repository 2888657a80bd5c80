# What all plots share. Set before: width, height. Colours are those of palette.h, which the page replaces.
set encoding utf8
set micro
set terminal svg size width,height dynamic noenhanced font "sans-serif,12"
set border 3 lc rgb "#808081" lw 1
set tics nomirror out scale 0.5 textcolor rgb "#808081"
set grid lc rgb "#dcdfe1" lt 1 lw 0.7
set xlabel textcolor rgb "#808081"
set ylabel textcolor rgb "#808081"
set datafile separator "\t"
unset key
