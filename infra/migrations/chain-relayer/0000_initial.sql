CREATE SCHEMA IF NOT EXISTS "chain_relayer";
--> statement-breakpoint
CREATE TABLE "chain_relayer"."lane" (
	"address" text PRIMARY KEY NOT NULL,
	"next_nonce" integer NOT NULL,
	"holder" text,
	"epoch" bigint DEFAULT 0 NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"fault" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."operation" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"cause" text NOT NULL,
	"wallet" text NOT NULL,
	"payload" jsonb NOT NULL,
	"content_hash" text NOT NULL,
	"revision" numeric(78,0),
	"authorization_nonce" text,
	"leaves_micro" numeric(78,0) NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"lane" text,
	"nonce" integer,
	"tries" integer DEFAULT 0 NOT NULL,
	"not_before" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"tx_hash" text,
	"block_number" numeric(78,0),
	"block_hash" text,
	"reason" text,
	"watch_at" timestamp (3) with time zone,
	"repeats" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "operation_once" UNIQUE("kind","cause"),
	CONSTRAINT "operation_authorization_once" UNIQUE("kind","wallet","authorization_nonce")
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."dead_letter" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"subject" text NOT NULL,
	"payload" jsonb NOT NULL,
	"reason" text NOT NULL,
	"died_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"redrive_requested_at" timestamp (3) with time zone,
	"redriven_at" timestamp (3) with time zone,
	CONSTRAINT "dead_letter_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."inbox" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"done_at" timestamp (3) with time zone,
	CONSTRAINT "inbox_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."outbox" (
	"id" text PRIMARY KEY NOT NULL,
	"position" bigserial NOT NULL,
	"subject" text NOT NULL,
	"payload" jsonb NOT NULL,
	"request_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"published_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."attempt" (
	"lane" text NOT NULL,
	"nonce" integer NOT NULL,
	"attempt" integer NOT NULL,
	"purpose" text NOT NULL,
	"raw" text NOT NULL,
	"hash" text NOT NULL,
	"max_fee_wei" numeric(78,0) NOT NULL,
	"priority_wei" numeric(78,0) NOT NULL,
	"gas" numeric(78,0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"broadcasts" integer DEFAULT 0 NOT NULL,
	"broadcast_at" timestamp (3) with time zone,
	"last_error" text,
	CONSTRAINT "attempt_lane_nonce_attempt_pk" PRIMARY KEY("lane","nonce","attempt"),
	CONSTRAINT "attempt_hash" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."transaction" (
	"lane" text NOT NULL,
	"nonce" integer NOT NULL,
	"purpose" text NOT NULL,
	"operation_ids" jsonb NOT NULL,
	"to" text NOT NULL,
	"data" text NOT NULL,
	"value_wei" numeric(78,0) NOT NULL,
	"outcome" text,
	"tx_hash" text,
	"block_number" numeric(78,0),
	"block_hash" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "transaction_lane_nonce_pk" PRIMARY KEY("lane","nonce")
);
--> statement-breakpoint
CREATE INDEX "operation_open" ON "chain_relayer"."operation" USING btree ("not_before","created_at") WHERE "chain_relayer"."operation"."state" in ('waiting', 'assigned');--> statement-breakpoint
CREATE INDEX "operation_watched" ON "chain_relayer"."operation" USING btree ("watch_at") WHERE "chain_relayer"."operation"."watch_at" is not null;--> statement-breakpoint
CREATE INDEX "operation_of_wallet" ON "chain_relayer"."operation" USING btree ("wallet","kind","created_at","id");--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "chain_relayer"."outbox" USING btree ("position") WHERE "chain_relayer"."outbox"."published_at" is null;--> statement-breakpoint
CREATE INDEX "transaction_open" ON "chain_relayer"."transaction" USING btree ("lane","nonce") WHERE "chain_relayer"."transaction"."outcome" is null;