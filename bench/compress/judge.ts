/**
 * `node bench/compress/judge.ts [--save]`: evaluates the points measured by `sweep.ts`, on the half of the photographs that was
 * not used for choosing settings. `--save` writes the tables to compress.md. To measure the points:
 *
 *     for s in 4:2:0 4:4:4; do
 *       node bench/compress/sweep.ts --half judge --minutes 60 $s/engine $s/t{2,3,5}/trellis/plain/{78/78,84/84,90/90}
 *     done
 *     node bench/compress/sweep.ts --half judge --minutes 60 4:2:0/compressorjs
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { table } from '../report/figures.ts'
import { saveFigures } from '../report/readme.ts'
import { bytesAt, curvesOf, geometricMean, type Point } from './equal-quality.ts'
import type { Difference } from './metrics.ts'
import { CACHE } from './photographs.ts'

/** mozjpeg's default, and its two tables with the smallest results on the choosing half. */
const STOCK = ['t3/trellis/plain', 't2/trellis/plain', 't5/trellis/plain'] as const
/** Smaller differences do not count as clearly worse. */
const CLEAR_DIFFERENCE = { score: 1.5, butteraugli: 1.15 }

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
  return [
    ...STOCK.map((setting) => {
      const ratios = ratiosTo(setting)
      return [
        `bytes at equal SSIMULACRA2, mozjpeg with table ${setting[1]} = 1`,
        `${geometricMean(ratios).toFixed(3)}, at most ${Math.max(...ratios).toFixed(2)}`,
      ] as const
    }),
    [
      'SSIMULACRA2, median and least',
      `${scores[scores.length >> 1]?.toFixed(1)} and ${scores[0]?.toFixed(1)}`,
    ],
    ['at least 78', `${scores.filter((score) => score >= 78).length} of ${scores.length}`],
  ] as const
})

const peers = of('4:2:0/compressorjs')
const rivals = of('4:2:0/engine').flatMap((own) => {
  const peer = peers.find(({ name }) => name === own.name)
  return peer ? [{ own, peer }] : []
})
const smaller = rivals.filter(({ own, peer }) => own.bytes < peer.bytes)
/** Results that are no worse by one metric, and not clearly worse by the other. */
const wonBy = (measure: keyof Difference) =>
  smaller.filter(({ own, peer }) => {
    const [ours, theirs] = [own.butteraugli![measure], peer.butteraugli![measure]]
    const clearlyWorse =
      own.score < peer.score - CLEAR_DIFFERENCE.score || ours > theirs * CLEAR_DIFFERENCE.butteraugli
    return (own.score >= peer.score || ours <= theirs) && !clearlyWorse
  }).length
const share = (count: number) => `${count} of ${rivals.length}`
const noWorse = rivals.filter(({ own, peer }) => own.score >= peer.score).length
const noWorseByNorm = rivals.filter(({ own, peer }) => own.butteraugli!.norm <= peer.butteraugli!.norm).length

const figures = [
  `${rivals.length} photographs of the judging half:`,
  table(
    ['', '4:2:0', '4:4:4'],
    sections[0]!.map(([label, figure], i) => [label, figure, sections[1]![i]![1]]),
  ),
  'Beside compressorjs (0.8) in Chromium, 4:2:0:',
  table(
    ['', 'photographs'],
    [
      ['smaller, no worse by one metric, not clearly worse by the other', share(wonBy('norm'))],
      ['the same with butteraugli at its worst spot', share(wonBy('worst'))],
      ['no worse by SSIMULACRA2', share(noWorse)],
      ['no worse by butteraugli', share(noWorseByNorm)],
      ['bytes', geometricMean(rivals.map(({ own, peer }) => own.bytes / peer.bytes)).toFixed(3)],
    ],
  ),
].join('\n\n')

process.stdout.write(`${figures}\n`)
if (process.argv.includes('--save')) await saveFigures('judged', figures, 'bench/compress.md')
