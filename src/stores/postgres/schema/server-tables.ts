/**
 * Words for the search on the server, of an index that has grown beyond the memory of a process: the words of a chunk
 * as lexemes, with a label for their weight. Filled segment by segment; `served` counts the finished ones.
 */
export const SERVER_TABLES = `
CREATE TABLE @chunk_words (
  chunk bigint PRIMARY KEY,
  source bigint NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX chunk_words_by_source ON @chunk_words (source);
CREATE INDEX chunk_words_by_word ON @chunk_words USING gin (words) WITH (fastupdate = off);
ALTER TABLE @index_state ADD COLUMN served integer NOT NULL DEFAULT 0;
ALTER TABLE @embedders ADD COLUMN served integer NOT NULL DEFAULT 0;
`;
