#!/bin/sh
# The roles of Pagekeep's database, for compose.yaml. PostgreSQL's image runs it when the database is created; to give an older
# database these roles: docker compose exec database sh /docker-entrypoint-initdb.d/roles.sh
#
# pagekeep_owner owns the library and installs it. pagekeep_server is what the server signs in as: it owns nothing, and row-level
# security holds for it. Neither is a superuser.
set -eu

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set owner_password="$OWNER_PASSWORD" --set server_password="$SERVER_PASSWORD" <<'SQL'
SET client_min_messages = warning;
SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['pagekeep_owner', 'pagekeep_server']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE pagekeep_owner LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOREPLICATION CREATEROLE PASSWORD :'owner_password';
ALTER ROLE pagekeep_server LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOREPLICATION NOCREATEROLE PASSWORD :'server_password';
SELECT format('ALTER DATABASE %I OWNER TO pagekeep_owner', current_database()) \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO pagekeep_server', current_database()) \gexec

-- A library that was installed by a superuser: give it to the owner.
SELECT format('GRANT %I TO pagekeep_owner WITH ADMIN OPTION', rolname) FROM pg_roles
WHERE rolname IN ('pagekeep_app', 'pagekeep_worker', 'pagekeep_door') \gexec
SELECT format('ALTER SCHEMA %I OWNER TO pagekeep_owner', nspname) FROM pg_namespace WHERE nspname = 'pagekeep' \gexec
SELECT format('ALTER %s %I.%I OWNER TO pagekeep_owner', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, nspname, relname)
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = 'pagekeep' AND relkind IN ('r', 'p', 'v') \gexec
SELECT format('ALTER ROUTINE %s OWNER TO pagekeep_owner', pg_proc.oid::regprocedure)
FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
WHERE nspname = 'pagekeep' \gexec
SQL
