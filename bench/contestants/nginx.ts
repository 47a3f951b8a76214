/** The nginx that ours is measured against. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'

/** Writes the configuration and gives its path. */
export function nginxConfig(dir: string, port: number, headers: [string, string][]): string {
  const quoted = (value: string) => `"${value.replaceAll(/["\\$]/g, '\\$&')}"`
  const text = `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 2;
pid ${dir}/nginx.pid;
error_log ${dir}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 75s;
  # The default of 1000 would make wrk connect anew all the time.
  keepalive_requests 100000000;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  server {
    listen 127.0.0.1:${port};
    location = /healthz { return 200; }
    location /raw/ {
      alias ${dir}/files/;
      default_type image/jpeg;
      etag off;
      ${headers.map(([name, value]) => `add_header ${name} ${quoted(value)};`).join('\n      ')}
    }
  }
}
`
  const file = path.join(dir, 'nginx.conf')
  writeFileSync(file, text)
  return file
}
