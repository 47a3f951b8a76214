/** What is done at random: `one-content.ts`. */
import fc from 'fast-check'

export const [NAMES, CONTENTS] = [2, 3]

const what = fc.constantFrom(
  'upload',
  'upload',
  'upload',
  'delete',
  'deleteAlone',
  'hold',
  'release',
  'remove',
  'block',
)
const act = fc.record({
  what,
  name: fc.nat(NAMES - 1),
  content: fc.nat(CONTENTS - 1),
  server: fc.nat(1),
})
export type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

/** Acts of one step come at once. */
export const step = fc.oneof(
  { weight: 9, arbitrary: fc.array(act, { minLength: 1, maxLength: 1 }) },
  { weight: 4, arbitrary: fc.array(act, { minLength: 2, maxLength: 5 }) },
  { weight: 3, arbitrary: fc.constantFrom('back up' as const, 'restore' as const) },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const of = (what: Act['what'], name: number, content: number): Act[] => [{ what, name, content, server: 0 }]

/** What chance finds too seldom: an image that the restored machine never heard of, and one that it knows by an earlier id. */
export const EXAMPLES: [Step[]][] = [
  // What is held can't be uploaded under a free name either.
  [[of('upload', 0, 0), of('hold', 0, 0), of('upload', 1, 0)]],
  ...(['delete', 'deleteAlone', 'remove', 'hold'] as const).map((what): [Step[]] => [
    [of('upload', 1, 0), 'back up', of('upload', 0, 0), of(what, 0, 0), 'restore', of('upload', 0, 1)],
  ]),
  [
    [
      ...[of('upload', 0, 0), of('hold', 0, 0), 'back up' as const, 'restore' as const],
      [...of('upload', 0, 0), ...of('release', 0, 0), ...of('upload', 0, 0)],
    ],
  ],
]
