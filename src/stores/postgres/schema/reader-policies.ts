/**
 * Row security for readers: a role that is not the owner of the tables sees only the sessions whose owners the setting
 * `longhaul.reader` names, and nothing where it is not set. The owner of a session is the first part of its id with its
 * slash, or the whole id; names are separated by a unit separator. The store's own user owns the tables, so that these
 * policies cost it nothing.
 */
const READABLE = `left(@, CASE strpos(@, '/') WHEN 0 THEN length(@) ELSE strpos(@, '/') END)
  = ANY ((SELECT string_to_array(current_setting('longhaul.reader', true), E'\\x1f'))::text[])`;

const ofSession = (column: string) =>
  `EXISTS (SELECT 1 FROM @sessions readable WHERE readable.number = ${column})`;
const ofSource = (column: string) =>
  `EXISTS (SELECT 1 FROM @sources readable WHERE readable.number = ${column})`;

/**
 * The condition under which a reader sees a row, by table; all other tables are closed. Part of a migration: a table that
 * is added later gets its policy in its own migration.
 */
export const READER_CONDITIONS: Readonly<Record<string, string>> = {
  sessions: READABLE.replaceAll(/@(?![a-z])/g, "id"),
  heads: ofSession("session"),
  entries: ofSession("session"),
  drafts: ofSession("session"),
  entry_blobs: ofSession("session"),
  intakes: ofSession("session"),
  tasks: ofSession("session"),
  sources: `kind = 1 AND ${READABLE.replaceAll(/@(?![a-z])/g, "name")}`,
  speakers: ofSource("source"),
  chunks: ofSource("source"),
};

/** Further tables that readers may read: numbers, and blobs, which have policies of their own since `READER_GRANTS`. */
export const SHARED_TABLES = ["longhaul_store", "index_state", "embedders", "blobs", "blob_pieces"] as const;

/** The table `chunk_words` existed when this migration was released. */
export const READER_POLICIES = Object.entries({ ...READER_CONDITIONS, chunk_words: ofSource("source") })
  .map(
    ([table, condition]) => `
ALTER TABLE @${table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY longhaul_reader ON @${table} FOR SELECT USING (${condition});`,
  )
  .join("");

const GRANTED = READABLE.replace(
  /\(\(SELECT string_to_array\(.*\)\)::text\[\]\)/,
  "((SELECT @reader_owners())::text[])",
);

/**
 * A migration: the setting decides for the store's own user only, who could read everything anyway. Any other role of the
 * server reads the owners that the table `readers` gives it, whatever it sets. Blobs follow the entries that name them.
 */
export const READER_GRANTS = `
CREATE TABLE @readers (role text NOT NULL, owner text NOT NULL, PRIMARY KEY (role, owner));
CREATE FUNCTION @reader_owners() RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN pg_has_role(session_user, current_user, 'MEMBER')
    THEN string_to_array(current_setting('longhaul.reader', true), E'\\x1f')
    ELSE (SELECT array_agg(r.owner) FROM @readers r WHERE r.role = session_user) END
$$;
ALTER POLICY longhaul_reader ON @sessions USING (${GRANTED.replaceAll(/@(?![a-z])/g, "id")});
ALTER POLICY longhaul_reader ON @sources USING (kind = 1 AND ${GRANTED.replaceAll(/@(?![a-z])/g, "name")});
ALTER TABLE @blobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY longhaul_reader ON @blobs FOR SELECT
  USING (EXISTS (SELECT 1 FROM @entry_blobs named WHERE named.digest = blobs.digest));
ALTER TABLE @blob_pieces ENABLE ROW LEVEL SECURITY;
CREATE POLICY longhaul_reader ON @blob_pieces FOR SELECT
  USING (EXISTS (SELECT 1 FROM @blobs named WHERE named.upload = blob_pieces.upload));
`;
