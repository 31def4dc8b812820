

JAR = {}


def ask(method, path, headers, body=None):
    """Sends a request and returns its answer; None if none comes."""
    url = urllib.parse.urlsplit(URL)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    link = kind(url.hostname, url.port, timeout=REPLY_SECONDS)
    headers = {name: value for name, value in headers.items() if value is not None}
    if KEEPS_COOKIES and JAR:
        headers["cookie"] = "; ".join(f"{name}={value}" for name, value in JAR.items())
    try:
        link.connect()
    except OSError as error:
        sys.exit(f"cannot reach {URL}: {error}; start the system first")
    try:
        link.request(method, path, None if body is None else body.encode(), headers)
        answer = link.getresponse()
        data = answer.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        link.close()
    set_cookies = [line.split(";")[0].split("=", 1) for line in answer.headers.get_all("set-cookie") or []]
    cookies = {pair[0].strip(): pair[1] for pair in set_cookies if len(pair) == 2}
    JAR.update(cookies)
    return Reply(data, answer.status, answer.headers, cookies)
