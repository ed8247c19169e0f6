// Where sessions live: one table, and a bucket for payloads over 32 KB. Both are kept when the stack goes,
// unless told otherwise.
import { Duration, RemovalPolicy, Validations } from "aws-cdk-lib";
import { AttributeType, Billing, TableEncryptionV2, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { indexes, keySchema, ttlAttribute } from "../adapters/dynamodb-schema.ts";
import { acknowledgeWildcard, objectsOf } from "./acknowledge-wildcard.ts";

export type SessionStoreProps = {
  /** @default keys that AWS owns and manages */
  encryptionKey?: IKey;
  /** @default RemovalPolicy.RETAIN */
  removalPolicy?: RemovalPolicy;
};

export class SessionStore extends Construct {
  readonly table: TableV2;
  readonly blobs: Bucket;
  readonly #key: IKey | undefined;

  constructor(scope: Construct, id: string, props: SessionStoreProps = {}) {
    super(scope, id);
    const { encryptionKey, removalPolicy = RemovalPolicy.RETAIN } = props;
    this.#key = encryptionKey;
    this.table = new TableV2(this, "Table", {
      partitionKey: { name: keySchema.partition, type: AttributeType.STRING },
      sortKey: { name: keySchema.sort, type: AttributeType.STRING },
      globalSecondaryIndexes: Object.values(indexes).map((index) => ({
        indexName: index.name,
        partitionKey: { name: index.partition, type: AttributeType.STRING },
        sortKey: { name: index.sort, type: index.sortType === "N" ? AttributeType.NUMBER : AttributeType.STRING },
      })),
      timeToLiveAttribute: ttlAttribute,
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: encryptionKey
        ? TableEncryptionV2.customerManagedKey(encryptionKey)
        : TableEncryptionV2.dynamoOwnedKey(),
      deletionProtection: removalPolicy !== RemovalPolicy.DESTROY,
      removalPolicy,
    });
    this.blobs = new Bucket(this, "Blobs", {
      encryption: encryptionKey ? BucketEncryption.KMS : BucketEncryption.S3_MANAGED,
      ...(encryptionKey ? { encryptionKey, bucketKeyEnabled: true } : {}),
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      lifecycleRules: [{ id: "drop-unfinished-uploads", abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      removalPolicy,
    });
    Validations.of(this.blobs).acknowledge({
      id: "AwsSolutions-S1",
      reason:
        "Objects are reached by the hash that a checkpoint holds, by this stack's functions only; audit with CloudTrail data events.",
    });
  }

  /** Reading and writing sessions: five actions on the table itself, never Scan; objects by key, never a listing. */
  grantSessions(role: Role): void {
    role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: "Sessions",
        actions: ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"].map((action) => `dynamodb:${action}`),
        resources: [this.table.tableArn],
      }),
    );
    role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: "Blobs",
        actions: ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
        resources: [this.blobs.arnForObjects("*")],
      }),
    );
    acknowledgeWildcard(
      role,
      objectsOf(this.blobs),
      "An object is named by the hash of its content, which is not known in advance.",
    );
    this.#key?.grant(role, ...keyActions);
  }

  /** Finding sessions across partitions, for lists and the sweeper: Query on the two indexes. */
  grantLookups(role: Role): void {
    role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: "Lookups",
        actions: ["dynamodb:Query"],
        resources: Object.values(indexes).map((index) => `${this.table.tableArn}/index/${index.name}`),
      }),
    );
    this.#key?.grant(role, ...keyActions);
  }
}

/** What DynamoDB and S3 do with a customer's key in the name of the caller; CDK's own grants have wildcards. */
const keyActions = [
  "kms:Decrypt",
  "kms:DescribeKey",
  "kms:Encrypt",
  "kms:GenerateDataKey",
  "kms:GenerateDataKeyWithoutPlaintext",
  "kms:ReEncryptFrom",
  "kms:ReEncryptTo",
];
