# A Redis server without files. With REDIS_FAULT behind a proxy that is not quite right.
port=$1
proxy=${2:-faulty.py}
server="redis-server --bind 127.0.0.1 --appendonly no --logfile /dev/null"
if [ -z "$REDIS_FAULT" ]; then
    exec $server --port "$port" --save ''
fi
exec python3 "$proxy" "$port" "$REDIS_FAULT" $server --port "{port}" --save ''
