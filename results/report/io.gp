# Where requests went over time. Set before: x_max (s), y_max (millions of sectors), cut (s, negative for none); $media, $reads,
# $writes: seconds, LBA. Media writes first: what was asked for lies over what the medium saw.
set xrange [0:x_max]
set yrange [0:y_max]
set format x "%g s"
set format y "%gM"
set lmargin 6.5
set rmargin 2
set tmargin 0.8
if (cut >= 0) set arrow 1 from cut, graph 0 to cut, graph 1 nohead lc rgb "#b3261e" lw 1.5 dt (4,3) front
plot $media using 1:($2/1e6) with dots lc rgb "#7f868c", $reads using 1:($2/1e6) with dots lc rgb "#0173b3", \
  $writes using 1:($2/1e6) with dots lc rgb "#de7a05"
