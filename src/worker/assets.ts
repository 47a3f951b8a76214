/** The pages' files, as the build left them, through the binding of static assets. */
import type { Asset, AssetList } from '../web/assets.ts'
import type { AssetUrls } from '../web/pages.ts'

/** A binding of static assets: any host will do. */
export interface AssetFetcher {
  fetch(address: string): Promise<Response>
}

export interface WorkerAssets {
  urls: AssetUrls
  /** `null` if there is no such file. */
  asset(path: string): Promise<Asset | null> | null
}

export async function openAssets(binding: AssetFetcher): Promise<WorkerAssets> {
  async function get(file: string): Promise<Response> {
    const response = await binding.fetch(`https://assets.invalid/${file}`)
    if (response.ok) return response
    throw new Error(
      `the file ${file} of the pages is not there: run npm run build before npx wrangler deploy`,
    )
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
