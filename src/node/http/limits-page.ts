/** `node src/node/http/limits-page.ts > docs/limits.md`: every limit, what it protects, and how to change it. */
import { parseConfig } from '../../config.ts'
import { FORM_MAX_BYTES } from '../../http/body.ts'
import { MAX_OVERHEAD_BYTES } from '../../http/multipart/multipart.ts'
import { MAX_PART_HEADER_BYTES } from '../../http/multipart/part-reader.ts'
import { FORM_MAX_BYTES as OPERATOR_FORM_MAX_BYTES } from '../../http/operator/access.ts'
import { REPORT_MAX_BYTES } from '../../http/routes/report.ts'
import { MAX_FRAME_PIXELS, MAX_SIDE_PIXELS } from '../../protocol.ts'
import { LARGE_COMMITS_AT_ONCE, LARGE_READS_AT_ONCE } from '../../service/publish.ts'
import { IN_VAIN, KEPT_OF_CATEGORY, REPORT_BUDGETS } from '../../service/reports.ts'
import { FREE_CHUNKS, FREE_CHUNKS_OF_A_BODY, LEAST_AVERAGE_BYTES } from './crumbs.ts'
import { DRAINED_BYTES_PER_SECOND, DRAINS_AT_ONCE } from './drain.ts'
import { LIMIT_TABLE } from './limits.ts'
import { limitsOfFiles } from './limits-of-files.ts'
import { LARGE_BYTES } from './send-raw.ts'
import { TURN_BUDGET_MS, TURNS_FOR_ARRIVALS } from './turns.ts'

type Row = [of: string, figure: string, protects: string, source: string, change: string]

const IN_CODE = 'in `src/node/http/limits.ts`'

export function limitsPage(): string {
  const fallbacks = parseConfig({})
  const variables: Row[] = [
    [
      'uploads of an address in a UTC day',
      `${fallbacks.uploadsPerDay}`,
      'the disk',
      'the interface',
      '`UPLOADS_PER_DAY`',
    ],
    [
      'uploads of an address that are read at once, in each process; more wait',
      `${fallbacks.uploadsAtOnce}`,
      'others behind the same address, memory',
      'a page sends three at once',
      '`UPLOADS_AT_ONCE`',
    ],
    [
      'refused uploads of an address in a UTC day; past it `too-many-refusals`',
      `${fallbacks.refusalsPerDay}`,
      'the processor',
      'twice the quota',
      '`REFUSALS_PER_DAY`',
    ],
    [
      'bytes of refused uploads of an address in a UTC day',
      bytes(fallbacks.refusedBytesPerDay),
      'the disk and the processor',
      'forty of the largest files',
      '`REFUSED_BYTES_PER_DAY`',
    ],
    ['bytes of a file', bytes(fallbacks.maxUploadBytes), 'the disk', 'the interface', '`MAX_UPLOAD_BYTES`'],
    [
      'connections of an address that are served at once, in each process, trusted proxies aside; more wait',
      `${fallbacks.connectionsPerAddress}`,
      'memory and descriptors',
      'twenty browsers with six each',
      '`CONNECTIONS_PER_ADDRESS`',
    ],
    [
      'memory for images, in each process; answers under way pin half of it at most',
      bytes(fallbacks.hotSetBytes),
      'memory',
      'a server of 250 MB',
      '`HOT_SET_BYTES`',
    ],
  ]
  const code = Object.values(LIMIT_TABLE).map(
    ({ of, figure, unit, protects, source }): Row => [
      of,
      unit === 'ms'
        ? `${figure / 1000} s`
        : unit.startsWith('bytes')
          ? bytes(figure) + unit.slice('bytes'.length)
          : `${figure}`,
      protects,
      source,
      IN_CODE,
    ],
  )
  const fixed: Row[] = [
    [
      'average bytes of a chunk of a body; below it the connection is cut off',
      `${LEAST_AVERAGE_BYTES}`,
      'the processor',
      'no client that means well sends less than a packet',
      '`src/node/http/crumbs.ts`',
    ],
    [
      'chunks of a connection that may be smaller, besides the first of each body',
      `${FREE_CHUNKS}`,
      'clients that send a little by hand',
      'half a millisecond of processor time',
      '`src/node/http/crumbs.ts`',
    ],
    [
      'first chunks of a body, which may be of any size',
      `${FREE_CHUNKS_OF_A_BODY}`,
      'forms that proxies pass on in chunks',
      'they cost less than their request',
      '`src/node/http/crumbs.ts`',
    ],
    [
      'of a turn of the event loop for requests of pages and the API, images and uploads aside; past it they go one a turn',
      `${TURN_BUDGET_MS} ms`,
      'others, from many requests at the same moment',
      'a fiftieth of what may be felt',
      '`src/node/http/turns.ts`',
    ],
    [
      'turns in a row for which pipelined requests and large images wait while new connections come',
      `${TURNS_FOR_ARRIVALS}`,
      'whoever connects while many others do: one connection is accepted in each turn',
      'pieces of images take a millisecond, and turns without one a tenth',
      '`src/node/http/turns.ts`',
    ],
    [
      'bytes of the headers of a request',
      '16 KB',
      'memory',
      "Node's default",
      '`--max-http-header-size` of Node',
    ],
    [
      'bytes of a form of our pages',
      bytes(FORM_MAX_BYTES),
      'memory',
      'a key and its name',
      '`src/http/body.ts`',
    ],
    [
      'bytes a second that are read of all refused bodies together, in each process',
      bytes(DRAINED_BYTES_PER_SECOND),
      'memory: what was read is garbage',
      'half a line of 1 Gbit/s',
      '`src/node/http/drain.ts`',
    ],
    [
      'refused bodies that are drained at once, in each process; past it the connection ends behind the answer',
      `${DRAINS_AT_ONCE}`,
      'memory: 0.1 MB each',
      'what a server of 350 MB has',
      '`src/node/http/drain.ts`',
    ],
    [
      'bytes of a report',
      bytes(REPORT_MAX_BYTES),
      'memory',
      'text of 2,000 characters, each of which a form may write as 12 bytes',
      '`src/http/routes/report.ts`',
    ],
    [
      'reports of an address, of a network and of all, of each severity in a UTC day',
      Object.values(REPORT_BUDGETS).join(', '),
      'the queue: past it refused; taken without its words, behind all others; taken without its words',
      'five people of a network who report all that they may',
      '`src/service/reports.ts`',
    ],
    [
      'reports of a category that a case keeps; further ones are counted',
      `${KEPT_OF_CATEGORY}`,
      'the disk',
      'what an operator reads',
      '`src/service/reports.ts`',
    ],
    [
      'reports of an address in vain (of an image that is not here, or past its budget), and then one every 5 s',
      `${IN_VAIN.burst}`,
      'the store, which is asked',
      'somebody who types an id',
      '`src/service/reports.ts`',
    ],
    [
      "bytes of a form at the operator's door",
      bytes(OPERATOR_FORM_MAX_BYTES),
      'memory',
      'a reason and the names of what it is for',
      '`src/http/operator/access.ts`',
    ],
    [
      'drafts over 256 KB that are read at once, in each process',
      `${LARGE_READS_AT_ONCE}`,
      'memory',
      'a window of each walk',
      '`src/service/publish.ts`',
    ],
    [
      'of them that are stored at once',
      `${LARGE_COMMITS_AT_ONCE}`,
      'memory',
      'stores that are far away',
      '`src/service/publish.ts`',
    ],
    [
      'images from memory over this size are sent a turn of the event loop each, as requests are',
      bytes(LARGE_BYTES),
      'others, while the kernel copies',
      '2 ms for 4 MB',
      '`src/node/http/send-raw.ts`',
    ],
    [
      'bytes of an upload that are not the file',
      bytes(MAX_OVERHEAD_BYTES),
      'the network',
      'forms have a few hundred',
      '`src/http/multipart/multipart.ts`',
    ],
    [
      'bytes of the headers of its part',
      bytes(MAX_PART_HEADER_BYTES),
      'memory',
      'far more than browsers send',
      '`src/http/multipart/part-reader.ts`',
    ],
    [
      'pixels of a side',
      `${MAX_SIDE_PIXELS}`,
      'whoever decodes the image',
      'what JPEG can say',
      '`src/protocol.ts`',
    ],
    [
      'pixels of a frame',
      `${MAX_FRAME_PIXELS}`,
      'whoever decodes the image',
      'a phone picture of 200 MP passes',
      '`src/protocol.ts`',
    ],
  ]
  const rows = [...variables, ...code, ...fixed].map((row) => `| ${row.join(' | ')} |`)
  const files = limitsOfFiles().map(
    ({ name, figure, why, file }) => `| \`${name}\` | ${figure} | ${why} | \`${file}\` |`,
  )
  return `# Limits

What one client may cost. Variables are set when the server starts; the rest is in the code, for no operator should need
to change it. \`npm run attack\` measures whether they hold.

| of | figure | protects | source | change it with |
|---|---|---|---|---|
${rows.join('\n')}

## What a file may hold

The server walks a file's structure and never decodes it. Each walk ends, whatever the file says: a file that holds more
than this is refused. The table is read from the sources.

| limit | figure | why | in |
|---|---|---|---|
${files.join('\n')}
`
}

function bytes(count: number): string {
  const steps = [
    [2 ** 30, 'GB'],
    [2 ** 20, 'MB'],
    [2 ** 10, 'KB'],
  ] as const
  const [size, unit] = steps.find(([size]) => count % size === 0) ?? [1, 'bytes']
  return `${count / size} ${unit}`
}

if (import.meta.main) process.stdout.write(limitsPage())
