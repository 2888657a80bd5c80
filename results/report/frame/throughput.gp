# Response time against throughput, a line per file system, a point per number of users. Set before: series; colours (one
# word per series), dashes, step of the axis; $data with one index per series: operations per second, seconds, users.
set xrange [0:*]
set yrange [0:*]
set format x "%g/s"
set format y "%.0s %cs"
set lmargin 8.5
set rmargin 3
set tmargin 0.8
set offsets graph 0, graph 0.06, graph 0.1, 0
set xtics step
# Lines and points are separate, because the SVG is parsed line by line: a line with both would count as a point.
plot for [i=1:series] $data index (i-1) using 1:2 with lines lc rgb word(colours, i) dt int(word(dashes, i)) lw 2, \
  for [i=1:series] $data index (i-1) using 1:2 with points lc rgb word(colours, i) pt 7 ps 0.5, \
  for [i=1:series] $data index (i-1) using 1:2:3 with labels offset 0,0.7 tc rgb "#63666b" font ",10"
