# An ngircd with its configuration in a file, which `stop` deletes. With IRC_FAULT behind a proxy that is not quite
# right.
port=$1
PATH=$PATH:/usr/sbin
conf=${TMPDIR:-/tmp}/ioxide-ngircd-$port.conf
if [ -z "$IRC_FAULT" ]; then
    sed "s/PORT/$port/" ngircd.conf >"$conf"
    exec ngircd -n -f "$conf"
fi
exec python3 faulty.py "$port" "$IRC_FAULT" "$conf"
