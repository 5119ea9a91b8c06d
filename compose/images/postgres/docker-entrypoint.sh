#!/usr/bin/env bash
# Makes the cluster on the first start, as the official image does: POSTGRES_USER (postgres), POSTGRES_DB (the user's name),
# POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE, and what is in /docker-entrypoint-initdb.d.
set -euo pipefail

# setting NAME: the variable NAME, or the contents of the file that NAME_FILE names.
setting() {
  local file=$1_FILE
  if [[ -n ${!file:-} ]]; then cat "${!file}"; else printf '%s' "${!1:-}"; fi
}

if [[ $1 == -* ]]; then set -- postgres "$@"; fi
[[ $1 == postgres ]] || exec "$@"

if ((EUID == 0)); then
  # The secrets' files may be root's alone: what they say goes on by a descriptor, never by an argument.
  exec 3<<<"$(setting POSTGRES_PASSWORD)"
  mkdir -p "$PGDATA"
  chown postgres:postgres "$PGDATA"
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi

if [[ ! -s $PGDATA/PG_VERSION ]]; then
  if [[ -e /proc/self/fd/3 ]]; then password=$(cat <&3); else password=$(setting POSTGRES_PASSWORD); fi
  user=$(setting POSTGRES_USER)
  user=${user:-postgres}
  database=$(setting POSTGRES_DB)
  database=${database:-$user}
  [[ -n $password ]] || { echo "docker-entrypoint.sh: POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE is missing" >&2 && exit 1; }
  initdb --username="$user" --pwfile=<(printf '%s\n' "$password") --auth-local=trust --auth-host=scram-sha-256 \
    --no-instructions
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  # Initialise with a server that has no network.
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
  [[ $database == postgres ]] || createdb --username="$user" "$database"
  for script in /docker-entrypoint-initdb.d/*; do
    case $script in
      *.sql) psql --no-psqlrc -v ON_ERROR_STOP=1 --username="$user" --dbname="$database" --file="$script" ;;
      *.sh) bash "$script" ;;
    esac
  done
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec 3<&-
exec postgres -c listen_addresses='*' "${@:2}"
