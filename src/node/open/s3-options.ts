/** The keys of an S3 store. */
import type { Config } from '../../config.ts'

/** What an S3 store is opened with, beside its URL. */
export function s3Options({ awsAccessKeyId, awsSecretAccessKey, awsSessionToken, awsRegion }: Config) {
  if (awsAccessKeyId === null || awsSecretAccessKey === null) {
    throw new Error('s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }
  return {
    accessKeyId: awsAccessKeyId,
    secretAccessKey: awsSecretAccessKey,
    ...(awsSessionToken === null ? {} : { sessionToken: awsSessionToken }),
    ...(awsRegion === null ? {} : { region: awsRegion }),
  }
}
