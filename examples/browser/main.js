// The operator of the service lists this page's origin in ALLOWED_ORIGINS.
import { configure, prepare, upload } from 'pinhole/client'

const baseUrl = document.body.dataset.service
const { workerUrl } = document.body.dataset // only for bundlers that find no workers: esbuild, Rollup
if (workerUrl) configure({ workerUrl })

const [input, output] = document.querySelectorAll('input, output')
input.addEventListener('click', prepare) // fetches the codecs while a file is chosen
input.addEventListener('change', async () => {
  try {
    const onProgress = ({ stage, percent = 0 }) => {
      output.textContent = `${stage} ${percent} %`
    }
    const { link } = await upload(input.files[0], { baseUrl, onProgress })
    output.replaceChildren(Object.assign(document.createElement('a'), { href: link, textContent: link }))
  } catch (error) {
    output.textContent = error.message
  }
})
