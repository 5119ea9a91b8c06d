package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Checks that a connection's role can only read. A read-only transaction is no protection: SQL can end it, and
 * functions of a superuser read files and run programs in it.
 */
final class ReaderRole {
  /**
   * What the role could do, in the words of the refusal; null if it can only read. An event type may be called as a
   * table of the catalogue.
   */
  private static final String EXCESS = """
      SELECT CASE
        WHEN r.rolsuper THEN 'is a superuser'
        WHEN r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
          THEN 'has CREATEROLE, CREATEDB, REPLICATION or BYPASSRLS'
        WHEN d.datdba = r.oid THEN 'owns the database'
        WHEN EXISTS (SELECT FROM pg_catalog.pg_roles o WHERE o.oid <> r.oid AND o.rolname <> 'pg_read_all_data'
            AND pg_has_role(r.oid, o.oid, 'MEMBER')) THEN 'is a member of other roles'
        WHEN has_database_privilege(d.oid, 'CREATE') THEN 'may create schemas'
        WHEN EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_(temp|toast)'
            AND has_schema_privilege(n.oid, 'CREATE'))
          THEN (SELECT 'may create tables in the schema ' || min(n.nspname) FROM pg_catalog.pg_namespace n
            WHERE n.nspname !~ '^pg_(temp|toast)' AND has_schema_privilege(n.oid, 'CREATE'))
        WHEN EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
            AND (c.relowner = r.oid OR c.relkind <> 'S' AND c.relnamespace <> 'pg_catalog'::regnamespace
            AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')))
          THEN 'may write to tables'
        END
      FROM pg_catalog.pg_roles r, pg_catalog.pg_database d
      WHERE r.rolname = current_user AND d.datname = current_database()""";

  private ReaderRole() {}

  /** @throws ArchiveException if the role can do more than read, with the statements that make one that cannot */
  static void require(Connection connection, PostgresOptions options) throws SQLException, ArchiveException {
    try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(
        "SELECT current_user, (" + EXCESS + "), (SELECT pg_get_userbyid(nspowner) FROM pg_catalog.pg_namespace"
            + " WHERE nspname = " + Sql.literal(options.schema()) + ")")) {
      row.next();
      String excess = row.getString(2);
      if (excess != null) {
        throw new ArchiveException(refusal(row.getString(1), excess, options.schema(), row.getString(3)));
      }
    }
  }

  private static String refusal(String role, String excess, String schema, String writer) {
    String in = Sql.identifier(schema);
    return "the role " + role + " " + excess + ", and others' queries must come from a role that can only read. Make"
        + " one as the database's administrator, and give its name in the archive's URL: CREATE ROLE lifeline_reader"
        + " LOGIN PASSWORD '...'; GRANT USAGE ON SCHEMA " + in + " TO lifeline_reader; GRANT SELECT ON ALL TABLES IN"
        + " SCHEMA " + in + " TO lifeline_reader; ALTER DEFAULT PRIVILEGES FOR ROLE "
        + (writer == null ? "WRITER" : Sql.identifier(writer)) + " IN SCHEMA " + in
        + " GRANT SELECT ON TABLES TO lifeline_reader; REVOKE CREATE ON SCHEMA public FROM PUBLIC;";
  }
}
