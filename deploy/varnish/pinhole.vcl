# Varnish in front of Pinhole. On the servers, set CDN_URL=varnish://host:port and TRUSTED_PROXIES to this machine's address.
#
# Start varnishd with `-p timeout_idle=30`: by default it cuts off uploads that pause for 5 s.
#
# Don't run varnishncsa with its default format: URLs may contain a deletion key or a receipt's secret. A safe format:
# varnishncsa -F '%t %m %s %b %D'
#
# Images are cached for as long as the origin's Surrogate-Control says, and purged by tag: PURGE / with X-Ban-Tags.
vcl 4.1;

import std;

import directors;

# Three servers; remove those that you don't have, here and in vcl_init. A restarting server is marked sick after two probes;
# until then, requests that reach it go to the next one: see vcl_backend_error.
probe ready {
    .url = "/healthz";
    .interval = 1s;
    .timeout = 1s;
    .window = 3;
    .threshold = 2;
    .initial = 2;
}

backend server1 {
    .host = "127.0.0.1";
    .port = "3000";
    # The server's own first-byte timeout is shorter; CDN_URL's `fill` must not be shorter than this.
    .first_byte_timeout = 60s;
    .between_bytes_timeout = 30s;
    .probe = ready;
}

backend server2 {
    .host = "127.0.0.1";
    .port = "3001";
    .first_byte_timeout = 60s;
    .between_bytes_timeout = 30s;
    .probe = ready;
}

backend server3 {
    .host = "127.0.0.1";
    .port = "3002";
    .first_byte_timeout = 60s;
    .between_bytes_timeout = 30s;
    .probe = ready;
}

sub vcl_init {
    new pinhole = directors.round_robin();
    pinhole.add_backend(server1);
    pinhole.add_backend(server2);
    pinhole.add_backend(server3);
}

# Clients that may ban: the servers.
acl pinhole_servers {
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    set req.backend_hint = pinhole.backend();
    if (req.method == "PURGE") {
        # Varnish has added client.ip to X-Forwarded-For. A second address is that of a client of a proxy on this machine.
        if (client.ip !~ pinhole_servers || req.http.X-Forwarded-For ~ ",") {
            return (synth(403, "Forbidden"));
        }
        # As the servers send it: anything else could match all images.
        if (req.http.X-Ban-Tags !~ "^\^\(i-[0-9A-Za-z]{11}(\|i-[0-9A-Za-z]{11})*\)\$$") {
            return (synth(400, "X-Ban-Tags is not a list of images"));
        }
        # Bans only match on obj, so that the ban lurker can process them.
        if (std.ban("obj.http.Cache-Tag ~ " + req.http.X-Ban-Tags)) {
            return (synth(200, "Banned"));
        }
        return (synth(500, std.ban_error()));
    }
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    if (req.url !~ "^/(raw|preview)/" && req.url !~ "^/assets/") {
        return (pass);
    }
    # Image responses do not vary by any header.
    if (req.url ~ "^/(raw|preview)/") {
        unset req.http.Cookie;
        unset req.http.Accept-Encoding;
        unset req.http.Authorization;
    }
    return (hash);
}

sub vcl_hash {
    # One copy for all host names.
    hash_data(req.url);
    return (lookup);
}

sub vcl_backend_response {
    set beresp.grace = 0s;
    set beresp.keep = 0s;
    if (beresp.status != 200 && beresp.status != 206 && beresp.status != 304) {
        # Remembered briefly as not cacheable: with a TTL of 0, requests for it would be sent one after the other.
        set beresp.uncacheable = true;
        set beresp.ttl = 10s;
        return (deliver);
    }
    if (beresp.http.Surrogate-Control ~ "max-age=[0-9]+") {
        set beresp.ttl = std.duration(regsub(beresp.http.Surrogate-Control, ".*max-age=([0-9]+).*", "\1s"), 0s);
        # Browsers get the origin's own TTL, which starts anew with each response from the cache.
        unset beresp.http.Age;
    } elseif (bereq.url ~ "^/(raw|preview)/") {
        # Without CDN_URL nothing would purge the object. Ranges are passed on.
        return (pass(120s));
    }
    return (deliver);
}

sub vcl_backend_error {
    # If a server is unavailable, retry with the next one, unless a repetition could do harm.
    if (bereq.retries < 2 && (bereq.method == "GET" || bereq.method == "HEAD")) {
        set bereq.backend = pinhole.backend();
        return (retry);
    }
}

sub vcl_deliver {
    # Headers for caches that the operator purges, not for clients.
    unset resp.http.Surrogate-Control;
    unset resp.http.Cache-Tag;
    unset resp.http.X-Varnish;
    unset resp.http.Via;
    # A browser's year begins when it receives the image.
    unset resp.http.Age;
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    } else {
        set resp.http.X-Cache = "MISS";
    }
}
