# port: a port that nothing listens on. For suites whose programs have to be told one.
port() {
    local port
    while port=$((20000 + RANDOM % 10000)) && (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    echo "$port"
}
