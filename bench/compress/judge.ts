/**
 * `node bench/compress/judge.ts [--save]`: what the points of `sweep.ts` say of the half that no setting was chosen on,
 * as tables and a plot, into compress.md and compress.svg. The points come from:
 *
 *     for s in 4:2:0 4:4:4; do
 *       node bench/compress/sweep.ts --half judge --minutes 60 $s/engine $s/t{2,3,5}/trellis/plain/{78/78,84/84,90/90}
 *     done
 *     node bench/compress/sweep.ts --half judge --minutes 60 4:2:0/compressorjs
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { table } from '../report/figures.ts'
import { bytesAt, curvesOf, geometricMean, type Point } from './equal-quality.ts'
import type { Difference } from './metrics.ts'
import { CACHE } from './photographs.ts'
import { plot } from './plot.ts'

/** As it comes, and the two of its own tables that took the fewest bytes on the choosing half. */
const STOCK = ['t3/trellis/plain', 't2/trellis/plain', 't5/trellis/plain'] as const
/** Less than this is not called worse. */
const CLEARLY = { score: 1.5, butteraugli: 1.15 }

const points: Point[] = (await readFile(join(CACHE, 'points.jsonl'), 'utf8'))
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Point)
  .filter(({ half }) => half === 'judge')

const of = (setting: string) => points.filter((point) => point.setting === setting)

const sections = (['4:2:0', '4:4:4'] as const).map((sampling) => {
  const engine = of(`${sampling}/engine`)
  const ratiosTo = (setting: string) => {
    const stock = curvesOf(points, (of) => of.startsWith(`${sampling}/${setting}`))
    return engine.flatMap(({ name, bytes, score }) => {
      const other = bytesAt(stock.get(name) ?? [], score)
      return other === null ? [] : [bytes / other]
    })
  }
  const scores = engine.map(({ score }) => score).sort((a, b) => a - b)
  const atLeast = (floor: number) => scores.filter((score) => score >= floor).length
  return [
    ['photographs', `${engine.length}`],
    ...STOCK.map((setting) => {
      const ratios = ratiosTo(setting)
      return [
        `bytes at equal SSIMULACRA2, stock mozjpeg with table ${setting[1]} = 1 (geometric mean)`,
        `${geometricMean(ratios).toFixed(3)} over ${ratios.length}, from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
      ] as const
    }),
    [
      'SSIMULACRA2, median and least',
      `${scores[scores.length >> 1]?.toFixed(1)} and ${scores[0]?.toFixed(1)}`,
    ],
    ['at least 78', `${atLeast(78)} of ${scores.length}`],
    ['at least 74', `${atLeast(74)} of ${scores.length}`],
    ['over 600 kB', `${engine.filter(({ bytes }) => bytes > 600_000).length}`],
  ] as const
})

const peers = of('4:2:0/compressorjs')
const rivals = of('4:2:0/engine').flatMap((own) => {
  const peer = peers.find(({ name }) => name === own.name)
  return peer ? [{ own, peer }] : []
})
const smaller = rivals.filter(({ own, peer }) => own.bytes < peer.bytes)
/** No worse by one metric, and not clearly worse by the other. */
const wonBy = (measure: keyof Difference) =>
  smaller.filter(({ own, peer }) => {
    const [ours, theirs] = [own.butteraugli![measure], peer.butteraugli![measure]]
    const clearlyWorse = own.score < peer.score - CLEARLY.score || ours > theirs * CLEARLY.butteraugli
    return (own.score >= peer.score || ours <= theirs) && !clearlyWorse
  }).length
const better = rivals.filter(({ own, peer }) => own.score >= peer.score)
const ratio = geometricMean(rivals.map(({ own, peer }) => own.bytes / peer.bytes))

const figures = [
  `Measured on ${new Date().toISOString().slice(0, 10)}, ${rivals.length} photographs of the judging half.`,
  table(
    ['', '4:2:0', '4:4:4'],
    sections[0]!.map(([what, figure], i) => [what, figure, sections[1]![i]![1]]),
  ),
  `Beside compressorjs (0.8) in Chromium, 4:2:0:`,
  table(
    ['', 'photographs'],
    [
      [
        'smaller, no worse by SSIMULACRA2 or butteraugli (3-norm), and not clearly worse by the other',
        `${wonBy('norm')} of ${rivals.length}`,
      ],
      ['the same with butteraugli at its worst spot', `${wonBy('worst')} of ${rivals.length}`],
      ['smaller', `${smaller.length} of ${rivals.length}`],
      ['no worse by SSIMULACRA2', `${better.length} of ${rivals.length}`],
      [
        'no worse by butteraugli (3-norm)',
        `${rivals.filter(({ own, peer }) => own.butteraugli!.norm <= peer.butteraugli!.norm).length} of ${rivals.length}`,
      ],
      ['bytes (geometric mean)', ratio.toFixed(3)],
    ],
  ),
  `Clearly worse: SSIMULACRA2 lower by more than ${CLEARLY.score}, or butteraugli higher by more than ${Math.round(100 * (CLEARLY.butteraugli - 1))} %.`,
  '![Quality over bytes](compress.svg)',
].join('\n\n')

const perPhotograph = table(
  [
    'photograph',
    'bits a pixel',
    'bytes, compressorjs = 1',
    'SSIMULACRA2',
    'compressorjs',
    'butteraugli (3-norm)',
    'compressorjs',
    'worst spot',
    'compressorjs',
  ],
  rivals
    .toSorted((a, b) => a.own.score - b.own.score)
    .map(({ own, peer }) => [
      own.name,
      ((8 * own.bytes) / own.pixels).toFixed(2),
      (own.bytes / peer.bytes).toFixed(2),
      own.score.toFixed(1),
      peer.score.toFixed(1),
      own.butteraugli!.norm.toFixed(2),
      peer.butteraugli!.norm.toFixed(2),
      own.butteraugli!.worst.toFixed(2),
      peer.butteraugli!.worst.toFixed(2),
    ]),
)

process.stdout.write(`${figures}\n\n${perPhotograph}\n`)
if (process.argv.includes('--save')) {
  const file = join(import.meta.dirname, '../compress.md')
  const text = await readFile(file, 'utf8')
  const [begin, end] = ['<!-- judged -->', '<!-- end of judged -->']
  const head = text.slice(0, text.indexOf(begin) + begin.length)
  await writeFile(file, `${head}\n${figures}\n${text.slice(text.indexOf(end))}`)
  await writeFile(join(import.meta.dirname, '../compress.svg'), plot(points))
}
