#!/bin/sh
# The part of the official image's behaviour that is used here: initialises an empty data folder with
# a password, given directly or in a file.
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  password=${POSTGRES_PASSWORD:-$(cat "${POSTGRES_PASSWORD_FILE:?a password is needed}")}
  printf '%s\n' "$password" > /tmp/password
  eval "initdb --username=postgres --pwfile=/tmp/password -D \"$PGDATA\" $POSTGRES_INITDB_ARGS"
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
fi
exec "$@"
