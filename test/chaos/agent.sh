#!/bin/sh
# An agent for chaos: writes down in the journal ($1) that it started and how it is about to end, so that what really ran is
# known whoever dies. Its message: an id, how long it works, its exit code, and whether it leaves a process behind.
read -r id seconds code leaves
echo "start $id $$" >>"$1"
[ "$leaves" = leaves ] && setsid sleep 600 &
sleep "$seconds"
echo "end $id $code" >>"$1"
exit "$code"
