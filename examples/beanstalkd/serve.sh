# A beanstalkd without files. With BEANSTALKD_FAULT behind a proxy that is not quite right.
port=$1
if [ -z "$BEANSTALKD_FAULT" ]; then
    exec beanstalkd -l 127.0.0.1 -p "$port"
fi
folder=$(mktemp -d)
beanstalkd -l "unix:$folder/socket" &
exec python3 faulty.py "$port" "$folder/socket" "$BEANSTALKD_FAULT"
