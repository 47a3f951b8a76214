/** The limits of what a file may hold, as the walkers of the formats say them in their sources: none can be left out. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FORMATS = join(import.meta.dirname, '../../formats')

/** A constant whose name says that it is the most of something, the comment before it, and its figure. */
const LIMIT =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?(?:export )?const ((?:MAX|MOST)_[A-Z_]+)(?:: number)? = ([\d_* ]+)$/gm

export interface FileLimit {
  name: string
  figure: number
  /** What the source says of it. */
  why: string
  /** From the folder `src` on. */
  file: string
}

/** By file and name. */
export function limitsOfFiles(): FileLimit[] {
  return globSync('**/*.ts', { cwd: FORMATS })
    .sort()
    .flatMap((file) =>
      [...readFileSync(join(FORMATS, file), 'utf8').matchAll(LIMIT)].map(
        ([, comment = '', name, figure]) => ({
          name: name!,
          figure: product(figure!),
          why: comment
            .replaceAll(/^\s*\*/gm, '')
            .replaceAll(/\s+/g, ' ')
            .trim(),
          file: `src/formats/${file}`,
        }),
      ),
    )
}

/** Of `4 * 1024` or `2 ** 18`. */
function product(figure: string): number {
  return figure
    .split(/(?<!\*) \* (?!\*)/)
    .map((factor) => factor.split(' ** ').map((part) => Number(part.replaceAll('_', ''))))
    .reduce((all, [base, exponent = 1]) => all * base! ** exponent, 1)
}
