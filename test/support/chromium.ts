/**
 * The Chromium that npm installs (`@sparticuz/chromium`), unpacked, with the libraries and the font that come with it: it
 * starts on a system that has neither.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ROOT } from './processes/process.ts'

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))))

const PACKED = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br', 'fonts.tar.br']

/** `PINHOLE_CHROMIUM` names another one, which is started as it is. */
export async function chromiumHere(): Promise<{ executablePath: string; env: NodeJS.ProcessEnv }> {
  const { env } = process
  if (env.PINHOLE_CHROMIUM) return { executablePath: env.PINHOLE_CHROMIUM, env }
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as { version: string }
  const folder = join(ROOT, 'node_modules/.cache', `chromium-${version}`)
  if (!existsSync(folder)) await unpack(folder)
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      ...env,
      LD_LIBRARY_PATH: [join(folder, 'al2023/lib'), env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
      ...(existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_FILE: join(folder, 'fonts.conf') }),
    },
  }
}

/** Several processes may do it at the same time: the folder appears whole, or not at all. */
async function unpack(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  try {
    // The package unpacks into the folder for temporary files, whatever that is.
    const script = `import { inflate } from '@sparticuz/chromium'
      for (const path of process.argv.slice(1)) await inflate(path)`
    const words = [
      '--input-type=module',
      '--eval',
      script,
      ...PACKED.map((name) => join(PACKAGE, 'bin', name)),
    ]
    await promisify(execFile)(process.execPath, words, { cwd: ROOT, env: { ...process.env, TMPDIR: draft } })
    await writeFile(
      join(draft, 'fonts.conf'),
      `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`,
    )
    await rename(draft, folder).catch((error) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}
