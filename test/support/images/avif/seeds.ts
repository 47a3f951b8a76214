/** Small AVIF files that together contain every box type that is parsed. */
import { alphaKind, assemble, coded, grid, image, irot, noise } from './assembly.ts'
import { box, bytes, fullBox, u32 } from './boxes.ts'
import { moov, track } from './tracks-assembly.ts'

export async function avifSeeds(): Promise<Uint8Array[]> {
  const picture = await coded(noise(64, 48))
  const alpha = await coded(noise(64, 48).greyscale())
  return [
    await noise(30, 20)
      .withExif({ IFD0: { Make: 'maker' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>')
      .avif({ effort: 0 })
      .toBuffer(),
    assemble({
      primary: 1,
      items: [
        { ...grid(1, [2, 1], [128, 48], irot(1)), inIdat: true },
        image(2, picture),
        image(3, picture),
        image(4, alpha, alphaKind(), { box: box('udes', [0]), essential: true }),
        { id: 5, type: 'Exif', data: bytes(u32(0), 'MM'), pieces: 2 },
        { ...image(6, alpha), hidden: true },
      ],
      references: [
        ['dimg', 1, 2, 3],
        ['auxl', 4, 1],
        ['cdsc', 5, 1, 6],
        ['thmb', 6, 1],
      ],
      groups: [fullBox('altr', 0, 0, u32(7, 2, 1, 6))],
      metaExtras: [box('uuid', new Uint8Array(16))],
      afterData: [box('uuid', new Uint8Array(20))],
    }),
    assemble({
      major: 'avis',
      brands: ['avis', 'avif'],
      primary: 1,
      items: [image(1, picture)],
      blobs: [picture.data, alpha.data],
      wideIds: true,
      moov: (offsets) => {
        const samples = [picture, alpha].map(({ data }, i) => ({ at: offsets[i]!, length: data.length }))
        const plan = {
          picture,
          samples,
          time: 5,
          extras: [box('udta', 'x'), box('tref', box('auxl', u32(2)))],
        }
        return moov([track(plan), track({ ...plan, id: 3, handler: 'meta' })], [box('meta', u32(0))])
      },
    }),
  ]
}
