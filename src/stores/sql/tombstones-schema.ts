/**
 * Changes that are still to be written to the second place. `since_ms`: since when it waits. `claim` and `due_at_ms` are as
 * those of purges.
 */
export const TOMBSTONES_MIGRATION = {
  name: '016-tombstones',
  statements: [
    `create table tombstones (
      number text not null primary key,
      at_ms bigint not null,
      recorded_us bigint not null,
      act text not null,
      subject text not null,
      rule text not null,
      sha256 text not null,
      sent_sha256 text not null,
      since_ms bigint not null,
      claim bigint not null,
      due_at_ms bigint not null
    )`,
    'create index tombstones_by_due_time on tombstones (due_at_ms)',
  ],
}
