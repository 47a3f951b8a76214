import type { Migration } from './migration.ts'

export const REPORT_BUDGETS: Migration = {
  name: '014-report-budgets',
  statements: [
    // What each budget of reports has spent of a day. Buckets of addresses and networks are HMACs under the day's salt.
    `create table report_budgets (
      day text not null,
      bucket text not null,
      used bigint not null,
      primary key (day, bucket)
    )`,
    // 1 while all that was said came from networks past their budget.
    'alter table cases add column crowded bigint not null default 0',
    // When the image was found to be gone; 0 if it was not.
    'alter table cases add column image_gone_at_ms bigint not null default 0',
    // The number of the report that opened the case or gave it its severity: it alone raises a notice.
    "alter table cases add column named_by text not null default ''",
    `create index cases_by_rank on cases
      (state, (case when image_gone_at_ms > 0 then 2 else crowded end), severity, due_at_ms, id)`,
    'drop index cases_by_state',
    // Budgets have their own table: reports hold nothing derived from an address any more.
    'update reports set reporter = number',
  ],
}
