CREATE SCHEMA IF NOT EXISTS "chain_relayer";
--> statement-breakpoint
CREATE TABLE "chain_relayer"."giveback_request" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "chain_relayer"."giveback_request_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tx_hash" text NOT NULL,
	"log_index" integer NOT NULL,
	"asked_by" text NOT NULL,
	"reason" text NOT NULL,
	"wallet" text,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"state" text DEFAULT 'asked' NOT NULL,
	"refusal" text,
	"operation_id" text,
	"decided_at" timestamp (3) with time zone,
	CONSTRAINT "giveback_request_named" CHECK (tx_hash ~ '^0x[0-9a-f]{64}$' and log_index >= 0),
	CONSTRAINT "giveback_request_signed" CHECK (btrim(asked_by) <> '' and btrim(reason) <> ''),
	CONSTRAINT "giveback_request_decided" CHECK ((state = 'refused') = (refusal is not null) and (state = 'ordered') = (operation_id is not null))
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."spent" (
	"signer" text NOT NULL,
	"identity" text NOT NULL,
	"spending" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "spent_signer_identity_pk" PRIMARY KEY("signer","identity")
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."spent_days" (
	"signer" text NOT NULL,
	"spending" text NOT NULL,
	"day" timestamp (3) with time zone NOT NULL,
	"total" numeric(78,0) NOT NULL,
	CONSTRAINT "spent_days_signer_spending_day_pk" PRIMARY KEY("signer","spending","day")
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
CREATE TABLE "chain_relayer"."burnt" (
	"lane" text NOT NULL,
	"nonce" integer NOT NULL,
	"wallet" text NOT NULL,
	"wei" numeric(78,0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "burnt_lane_nonce_wallet_pk" PRIMARY KEY("lane","nonce","wallet")
);
--> statement-breakpoint
CREATE TABLE "chain_relayer"."cursor" (
	"name" text PRIMARY KEY NOT NULL,
	"next_block" numeric(78,0) NOT NULL,
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
	"request_id" text,
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
CREATE TABLE "chain_relayer"."journal" (
	"posting" text NOT NULL,
	"line" smallint NOT NULL,
	"event" text NOT NULL,
	"item" text NOT NULL,
	"account" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"reverses" text,
	"booked_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "journal_posting_line_pk" PRIMARY KEY("posting","line"),
	CONSTRAINT "journal_account" CHECK ("chain_relayer"."journal"."account" in ('provider_id', 'provider_my', 'treasury', 'credit_line', 'lanes', 'clawback', 'promises', 'collateral', 'collateral_held', 'repaid', 'repaid_held', 'payouts', 'returns', 'suspense', 'exchange', 'spread', 'capital', 'fees', 'waived', 'gas', 'drips')),
	CONSTRAINT "journal_asset" CHECK ("chain_relayer"."journal"."asset" in ('AUSD', 'IDR', 'MYR', 'MON')),
	CONSTRAINT "journal_amount" CHECK ("chain_relayer"."journal"."amount" <> 0)
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
CREATE TABLE "chain_relayer"."pauses" (
	"what" text PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone,
	"revision" integer NOT NULL,
	"set_by" text NOT NULL,
	"reason" text NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "giveback_request_once" ON "chain_relayer"."giveback_request" USING btree ("tx_hash","log_index") WHERE state <> 'refused';--> statement-breakpoint
CREATE INDEX "giveback_request_asked" ON "chain_relayer"."giveback_request" USING btree ("id") WHERE state = 'asked';--> statement-breakpoint
CREATE INDEX "spent_created" ON "chain_relayer"."spent" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "transaction_open" ON "chain_relayer"."transaction" USING btree ("lane","nonce") WHERE "chain_relayer"."transaction"."outcome" is null;--> statement-breakpoint
CREATE INDEX "burnt_of_wallet" ON "chain_relayer"."burnt" USING btree ("wallet","created_at");--> statement-breakpoint
CREATE INDEX "burnt_created" ON "chain_relayer"."burnt" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "operation_open" ON "chain_relayer"."operation" USING btree ("not_before","created_at") WHERE "chain_relayer"."operation"."state" in ('waiting', 'assigned');--> statement-breakpoint
CREATE INDEX "operation_open_of_wallet" ON "chain_relayer"."operation" USING btree ("wallet","kind") WHERE "chain_relayer"."operation"."state" in ('waiting', 'assigned');--> statement-breakpoint
CREATE INDEX "operation_watched" ON "chain_relayer"."operation" USING btree ("watch_at") WHERE "chain_relayer"."operation"."watch_at" is not null;--> statement-breakpoint
CREATE INDEX "operation_of_wallet" ON "chain_relayer"."operation" USING btree ("wallet","kind","created_at","id");--> statement-breakpoint
CREATE INDEX "operation_out_of_treasury" ON "chain_relayer"."operation" USING btree ("block_number") WHERE "chain_relayer"."operation"."kind" in ('credit', 'repay', 'return', 'giveback');--> statement-breakpoint
CREATE INDEX "dead_letter_open" ON "chain_relayer"."dead_letter" USING btree ("consumer") WHERE "chain_relayer"."dead_letter"."redriven_at" is null;--> statement-breakpoint
CREATE INDEX "inbox_done" ON "chain_relayer"."inbox" USING btree ("consumer","done_at") WHERE "chain_relayer"."inbox"."done_at" is not null;--> statement-breakpoint
CREATE INDEX "journal_item" ON "chain_relayer"."journal" USING btree ("item");--> statement-breakpoint
CREATE INDEX "journal_booked" ON "chain_relayer"."journal" USING btree ("booked_at");--> statement-breakpoint
CREATE UNIQUE INDEX "journal_reversed" ON "chain_relayer"."journal" USING btree ("reverses","line") WHERE reverses is not null;--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "chain_relayer"."outbox" USING btree ("position") WHERE "chain_relayer"."outbox"."published_at" is null;--> statement-breakpoint
CREATE INDEX "outbox_published" ON "chain_relayer"."outbox" USING btree ("published_at") WHERE "chain_relayer"."outbox"."published_at" is not null;