# Time of a recovery step against the amount to recover, one line per file system and one point per value of the
# parameter. Set before: series; colours and dashes (one word per series); parameter; $data with one index per series:
# value, mean seconds, interval's low, high.
set logscale x
set yrange [0:*]
set format x "%.0s%c"
set format y "%.1s %cs"
set xlabel parameter
set lmargin 8.5
set rmargin 3
set tmargin 0.8
set offsets graph 0.02, graph 0.02, graph 0.1, 0
# Lines and points are separate, because the SVG is parsed line by line: a line with both would count as a point.
plot for [i=1:series] $data index (i-1) using 1:2 with lines lc rgb word(colours, i) dt int(word(dashes, i)) lw 2, \
  for [i=1:series] $data index (i-1) using 1:2:3:4 with yerrorbars lc rgb word(colours, i) lw 1 pt 7 ps 0.5
