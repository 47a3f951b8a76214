/** Photographs encoded like by a camera. `photographs.sha256` lists them with their Debian packages. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import sharp from 'sharp'

/** Where the packages are unpacked. `/` when they are installed. */
const PHOTOGRAPHS = process.env.PINHOLE_PHOTOGRAPHS ?? '/'
const LIST = join(import.meta.dirname, 'photographs.sha256')

/** Settings are chosen on one half and judged on the other. */
export type Half = 'choose' | 'judge'
export type Sampling = '4:2:0' | '4:4:4'

/** Prepared photographs and measured points, so that an interrupted run can resume. */
export const CACHE = join(import.meta.dirname, '../../node_modules/.cache/compress')

export interface Input {
  name: string
  bytes: Buffer
  width: number
  height: number
}

interface Source {
  path: string
  sha256: string
  half: Half
}

/** Larger pictures are scaled down, to remove their JPEG artefacts and to keep the metrics fast. */
const MAX_PIXELS = 1_200_000

/** Leaves out those that are missing or have another version, as packages change. Throws if none are left. */
export async function photographs(half: Half, sampling: Sampling): Promise<Input[]> {
  await mkdir(CACHE, { recursive: true })
  const inputs: Input[] = []
  for (const source of await sources()) {
    if (source.half !== half) continue
    const bytes = await cameraFileOf(source, sampling)
    if (bytes !== null) inputs.push(await inputOf(nameOf(source.path), bytes))
  }
  return some(inputs)
}

/** The original files of the judging half whose path matches, in the order of the list. */
export async function originals(pattern: RegExp): Promise<Buffer[]> {
  const found: Buffer[] = []
  for (const source of await sources()) {
    if (source.half !== 'judge' || !pattern.test(source.path)) continue
    const original = await originalOf(source)
    if (original !== null) found.push(original)
  }
  return some(found)
}

function some<Item>(items: Item[]): Item[] {
  if (items.length === 0) throw new Error(`no photographs in ${PHOTOGRAPHS}; see bench/compress.md`)
  return items
}

async function originalOf({ path, sha256 }: Source): Promise<Buffer | null> {
  const original = await readFile(join(PHOTOGRAPHS, path)).catch(() => null)
  if (original !== null && digestOf(original) === sha256) return original
  console.warn(`left out ${path}: ${original === null ? 'missing' : 'another version'}`)
  return null
}

async function cameraFileOf(source: Source, sampling: Sampling): Promise<Buffer | null> {
  const cached = join(CACHE, `${source.sha256.slice(0, 16)}-${sampling.replaceAll(':', '')}.jpg`)
  const ready = await readFile(cached).catch(() => null)
  if (ready) return ready
  const original = await originalOf(source)
  if (original === null) return null
  const bytes = await cameraFile(original, sampling)
  await writeFile(`${cached}.part`, bytes)
  await rename(`${cached}.part`, cached)
  return bytes
}

/** The parity of the digest's first byte determines the half. */
async function sources(): Promise<Source[]> {
  const lines = (await readFile(LIST, 'utf8')).split('\n').filter((line) => /^[0-9a-f]/.test(line))
  return lines.map((line) => {
    const [sha256 = '', path = ''] = line.split(' ')
    return { path, sha256, half: Number.parseInt(sha256.slice(0, 2), 16) % 2 === 0 ? 'choose' : 'judge' }
  })
}

async function cameraFile(original: Buffer, chromaSubsampling: Sampling): Promise<Buffer> {
  const { width, height } = await sharp(original).metadata()
  const scale = Math.min(1, Math.sqrt(MAX_PIXELS / (width * height)))
  return sharp(original)
    .toColourspace('srgb')
    .resize(Math.round(width * scale))
    .jpeg({ quality: 96, chromaSubsampling })
    .toBuffer()
}

export async function inputOf(name: string, bytes: Buffer): Promise<Input> {
  const { width, height } = await sharp(bytes).metadata()
  return { name, bytes, width, height }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A Plasma wallpaper is a folder with one file per size, so its name is that of the folder. */
function nameOf(path: string): string {
  const folder = /\/wallpapers\/([^/]+)\//.exec(path)?.[1]
  return folder ?? basename(path, extname(path)).replace(/_by_.*/, '')
}
