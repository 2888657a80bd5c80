# A value over the days that a file system has been in use, one line per entrant. Set before: series; colours and dashes (one word
# per series); unit (a format); top (of the y axis, or "*"); $data with one index per series: day, number.
if (top eq "*") set yrange [0:*]
if (top ne "*") set yrange [0:(top + 0)]
set format x "%g"
set format y unit
set xlabel "days"
set lmargin 8.5
set rmargin 3
set tmargin 0.8
set offsets graph 0.02, graph 0.02, (top eq "*" ? 0.1 : 0), 0
# Lines and points are separate, because the SVG is parsed line by line: a line with both would count as a point.
plot for [i=1:series] $data index (i-1) using 1:2 with lines lc rgb word(colours, i) dt int(word(dashes, i)) lw 2, \
  for [i=1:series] $data index (i-1) using 1:2 with points lc rgb word(colours, i) pt 7 ps 0.5
