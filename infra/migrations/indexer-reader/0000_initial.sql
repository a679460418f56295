CREATE SCHEMA IF NOT EXISTS "indexer_reader";
--> statement-breakpoint
CREATE TABLE "indexer_reader"."cursors" (
	"generation" integer PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"chain_id" integer NOT NULL,
	"genesis_hash" text,
	"contract" text NOT NULL,
	"deploy_block" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text,
	"block_time_seconds" bigint NOT NULL,
	"sequence" bigint DEFAULT 0 NOT NULL,
	"complete" boolean DEFAULT false NOT NULL,
	"moved_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "indexer_reader"."events" (
	"generation" integer NOT NULL,
	"block_number" bigint NOT NULL,
	"log_index" integer NOT NULL,
	"wallet" text NOT NULL,
	"name" text NOT NULL,
	"args" jsonb NOT NULL,
	"tx_hash" text NOT NULL,
	"at_seconds" bigint NOT NULL,
	CONSTRAINT "events_generation_block_number_log_index_pk" PRIMARY KEY("generation","block_number","log_index")
);
--> statement-breakpoint
CREATE TABLE "indexer_reader"."cycles" (
	"generation" integer NOT NULL,
	"wallet" text NOT NULL,
	"number" integer NOT NULL,
	"outcome" text,
	"opened_at_seconds" bigint NOT NULL,
	"due_at_seconds" bigint DEFAULT 0 NOT NULL,
	"closed_at_seconds" bigint,
	"peak_drawn_micro" numeric(78,0) NOT NULL,
	"total_repaid_micro" numeric(78,0) NOT NULL,
	"score_after" numeric(78,0),
	"open_tx_hash" text NOT NULL,
	"close_tx_hash" text,
	CONSTRAINT "cycles_generation_wallet_number_pk" PRIMARY KEY("generation","wallet","number")
);
--> statement-breakpoint
CREATE TABLE "indexer_reader"."records" (
	"generation" integer NOT NULL,
	"wallet" text NOT NULL,
	"verified" boolean NOT NULL,
	"frozen" boolean DEFAULT false NOT NULL,
	"defaulted" boolean NOT NULL,
	"score" numeric(78,0) NOT NULL,
	"drawn_micro" numeric(78,0) NOT NULL,
	"repay_count" integer NOT NULL,
	"cycles_opened" integer NOT NULL,
	"cycles_closed" integer NOT NULL,
	"verified_at_seconds" bigint,
	"first_seen_at_seconds" bigint,
	"last_block" bigint NOT NULL,
	"held_repayments" jsonb DEFAULT '[]'::jsonb NOT NULL,
	CONSTRAINT "records_generation_wallet_pk" PRIMARY KEY("generation","wallet")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "cursors_one_serves" ON "indexer_reader"."cursors" USING btree ("state") WHERE "indexer_reader"."cursors"."state" = 'serving';--> statement-breakpoint
CREATE UNIQUE INDEX "cursors_one_fills" ON "indexer_reader"."cursors" USING btree ("state") WHERE "indexer_reader"."cursors"."state" = 'filling';--> statement-breakpoint
CREATE INDEX "events_by_wallet" ON "indexer_reader"."events" USING btree ("generation","wallet");--> statement-breakpoint
CREATE INDEX "cycles_open" ON "indexer_reader"."cycles" USING btree ("generation","due_at_seconds","wallet") WHERE "indexer_reader"."cycles"."outcome" is null;