/** What was decided of an image is decided of its bytes. Digests are lower-case hex; empty where a server before wrote the row. */
export const DIGESTS_MIGRATION = {
  name: '013-digests',
  statements: [
    // Of what is held: of the stored and of the sent bytes. `gone`: 1 when the image is deleted and the case still open.
    "alter table holds add column sha256 text not null default ''",
    "alter table holds add column sent_sha256 text not null default ''",
    'alter table holds add column gone bigint not null default 0',
    'create index holds_by_sha256 on holds (sha256)',
    'create index holds_by_sent_sha256 on holds (sent_sha256)',
    // Of the stored bytes that the operator decided to keep.
    "alter table cases add column kept_sha256 text not null default ''",
  ],
}
