# One row per cell: median as a dot, smallest to largest as a line. Set before: rows, margin, logarithmic, and for
# a linear axis unit, scale (of a second) and step; $data: seconds median, min, max, row, colour, label.
if (logarithmic) {
  scale = 1
  set logscale x
  set format x "%.0s %cs"
} else {
  set xrange [0:*]
  set xtics step
  set format x "%g ".unit
}
set yrange [rows+0.5:0.5]
set grid noytics
set ytics scale 0
set lmargin margin
set rmargin 3
set tmargin 0.5
set bars 0.6
plot $data using ($1*scale):4:($2*scale):($3*scale):5:ytic(6) with xerrorbars lc rgb variable lw 2 pt 7 ps 0.9
