/** Loads the built static assets through the assets binding. */
import type { Asset, AssetList } from '../web/assets.ts'
import type { AssetUrls } from '../web/pages/page.ts'

/** A static assets binding. Ignores the host of the URL. */
export interface AssetFetcher {
  fetch(url: string): Promise<Response>
}

export interface WorkerAssets {
  urls: AssetUrls
  /** `null` when there is no such asset. */
  asset(path: string): Promise<Asset | null> | null
}

export async function openAssets(binding: AssetFetcher): Promise<WorkerAssets> {
  async function get(file: string): Promise<Response> {
    const response = await binding.fetch(`https://assets.invalid/${file}`)
    if (response.ok) return response
    throw new Error(`static asset ${file} is missing: run npm run build before npx wrangler deploy`)
  }

  async function load({ path, file, type, brotli, immutable }: AssetList['files'][number]): Promise<Asset> {
    const bytesOf = async (name: string) => new Uint8Array(await (await get(name)).arrayBuffer())
    const [bytes, compressed] = await Promise.all([bytesOf(file), brotli ? bytesOf(`${file}.br`) : undefined])
    return { path, type, immutable, bytes, ...(compressed && { brotli: compressed }) }
  }

  const list: AssetList = await (await get('assets.json')).json()
  const files = new Map(list.files.map((file) => [file.path, file]))
  return {
    urls: list.urls,
    asset(path) {
      const file = files.get(path)
      return file === undefined ? null : load(file)
    },
  }
}
