/** Shapes of bodies. Each names all its members: there are no others. */
import { ID_LENGTH, ID_PATTERN, KEY_PATTERN } from '../protocol.ts'
import type { ApiSettings, Schema } from './shapes.ts'

export const EXAMPLE_ID = '4cJx0RmQ2aZ'
export const EXAMPLE_KEY = `${EXAMPLE_ID}${'Zk3vY8qLw1'.repeat(4).slice(0, 32)}`

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more })

function object(properties: Record<string, Schema>, required: string[] = Object.keys(properties)): Schema {
  return { type: 'object', properties, required, additionalProperties: false }
}

export function schemas({ baseUrl }: ApiSettings): Record<string, Schema> {
  return {
    Upload: object({
      id: text(`Identifies the image: ${ID_LENGTH} letters and digits.`, { pattern: ID_PATTERN.source }),
      link: text('The page that shows the image.', { pattern: `^${baseUrl}/[0-9A-Za-z]{${ID_LENGTH}}$` }),
      key: text('The only credential that deletes the image. It is told once.', {
        pattern: KEY_PATTERN.source,
      }),
      delete: text('A page that asks before it deletes; DELETE deletes at once.', {
        pattern: `^${baseUrl}/api/delete\\?key=`,
      }),
    }),
    Deletion: object({ success: { const: true } }),
    Problem: object(
      {
        type: text('Where the code is explained, relative to this address.'),
        title: text('The phrase of the status.'),
        status: { type: 'integer', description: 'The status again.' },
        detail: text('What is wrong, in a sentence for people.'),
        error: text('The code: stable, for programs.', { pattern: '^[a-z]+(-[a-z]+)*$' }),
        retryAfter: {
          type: 'integer',
          minimum: 1,
          description: 'Seconds until it is worth another try, where that is known.',
        },
        success: { const: false, description: 'On answers to a deletion.' },
      },
      ['type', 'title', 'status', 'detail', 'error'],
    ),
  }
}
