# A beanstalkd without files. With BEANSTALKD_FAULT behind a proxy that is not quite right.
port=$1
if [ -z "$BEANSTALKD_FAULT" ]; then
    exec beanstalkd -l 127.0.0.1 -p "$port"
fi
exec python3 faulty.py "$port" "$BEANSTALKD_FAULT" beanstalkd -l 127.0.0.1 -p "{port}"
