#!/bin/sh
# Like the image postgres:18 on its first start: creates a cluster, a user with a password, and a database.
set -e
PATH=/opt/postgres/bin:$PATH
data=/var/lib/postgresql/data
if [ ! -s "$data/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  initdb -D "$data" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --locale=C --encoding=UTF8 --no-sync
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
  echo "create database \"$POSTGRES_DB\"" | postgres --single -D "$data" postgres
fi
exec "$@" -D "$data" -c 'listen_addresses=*' -c unix_socket_directories=
