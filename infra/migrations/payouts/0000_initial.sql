CREATE SCHEMA IF NOT EXISTS "payouts";
--> statement-breakpoint
CREATE TABLE "payouts"."account_checks" (
	"id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"request_mark" text NOT NULL,
	"account_mark" text NOT NULL,
	"verdict" text,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "account_checks_verdict" CHECK ("payouts"."account_checks"."verdict" in ('match', 'no_match', 'cannot_tell'))
);
--> statement-breakpoint
CREATE TABLE "payouts"."payouts" (
	"id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"state" text NOT NULL,
	"rate_minor_per_usd" numeric(78,0) NOT NULL,
	"spread_bps" integer DEFAULT 0 NOT NULL,
	"ausd_micro" numeric(78,0) NOT NULL,
	"fiat_minor" numeric(78,0) NOT NULL,
	"quote_id" text NOT NULL,
	"request_fingerprint" text NOT NULL,
	"request_id" text,
	"authorizer" text NOT NULL,
	"authorization_nonce" text NOT NULL,
	"authorization" jsonb NOT NULL,
	"channel_code" text NOT NULL,
	"bank_details" text NOT NULL,
	"bank_details_key_id" text NOT NULL,
	"account_mark" text,
	"provider_payout_id" text,
	"provider_status" text,
	"failure_code" text,
	"reason" text,
	"take_tx_hash" text,
	"return_tx_hash" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"attempted_at" timestamp (3) with time zone,
	"payout_api" text,
	"paid_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone,
	"checks" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payouts_quote" UNIQUE("quote_id"),
	CONSTRAINT "payouts_provider_payout" UNIQUE("provider_payout_id"),
	CONSTRAINT "payouts_state" CHECK ("payouts"."payouts"."state" in ('opening', 'expired', 'taking', 'taken', 'paying', 'paid', 'failed', 'returning', 'returned')),
	CONSTRAINT "payouts_amounts" CHECK ("payouts"."payouts"."ausd_micro" > 0 and "payouts"."payouts"."fiat_minor" > 0),
	CONSTRAINT "payouts_attempted" CHECK ("payouts"."payouts"."attempts" = 0 or "payouts"."payouts"."attempted_at" is not null)
);
--> statement-breakpoint
CREATE TABLE "payouts"."anomalies" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"object" text NOT NULL,
	"payout_id" text,
	"says" text NOT NULL,
	"noticed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payouts"."dead_letter" (
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
CREATE TABLE "payouts"."inbox" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"done_at" timestamp (3) with time zone,
	CONSTRAINT "inbox_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "payouts"."journal" (
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
	CONSTRAINT "journal_account" CHECK ("payouts"."journal"."account" in ('provider_id', 'provider_my', 'treasury', 'credit_line', 'lanes', 'clawback', 'promises', 'collateral', 'collateral_held', 'repaid', 'repaid_held', 'payouts', 'returns', 'suspense', 'exchange', 'spread', 'capital', 'fees', 'waived', 'gas', 'drips')),
	CONSTRAINT "journal_asset" CHECK ("payouts"."journal"."asset" in ('AUSD', 'IDR', 'MYR', 'MON')),
	CONSTRAINT "journal_amount" CHECK ("payouts"."journal"."amount" <> 0)
);
--> statement-breakpoint
CREATE TABLE "payouts"."listings" (
	"account" text NOT NULL,
	"window" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"read_at" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "listings_account_window_pk" PRIMARY KEY("account","window")
);
--> statement-breakpoint
CREATE TABLE "payouts"."outbox" (
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
CREATE TABLE "payouts"."pauses" (
	"what" text PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone,
	"revision" integer NOT NULL,
	"set_by" text NOT NULL,
	"reason" text NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "account_checks_of_wallet" ON "payouts"."account_checks" USING btree ("wallet","asked_at");--> statement-breakpoint
CREATE INDEX "account_checks_of_account" ON "payouts"."account_checks" USING btree ("account_mark","asked_at");--> statement-breakpoint
CREATE INDEX "account_checks_asked" ON "payouts"."account_checks" USING btree ("asked_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payouts_authorization" ON "payouts"."payouts" USING btree ("authorizer","authorization_nonce") WHERE not "payouts"."payouts"."state" = 'expired';--> statement-breakpoint
CREATE INDEX "payouts_next_check" ON "payouts"."payouts" USING btree ("next_check_at") WHERE "payouts"."payouts"."next_check_at" is not null;--> statement-breakpoint
CREATE INDEX "payouts_changed" ON "payouts"."payouts" USING btree ("changed_at");--> statement-breakpoint
CREATE INDEX "payouts_open_of_wallet" ON "payouts"."payouts" USING btree ("wallet") WHERE "payouts"."payouts"."state" in ('opening', 'taking', 'taken', 'paying', 'returning');--> statement-breakpoint
CREATE INDEX "payouts_of_account" ON "payouts"."payouts" USING btree ("account_mark","created_at");--> statement-breakpoint
CREATE INDEX "payouts_with_details" ON "payouts"."payouts" USING btree ("updated_at","id") WHERE "payouts"."payouts"."bank_details_key_id" <> 'erased';--> statement-breakpoint
CREATE INDEX "payouts_activity" ON "payouts"."payouts" USING btree ("wallet","created_at","id");--> statement-breakpoint
CREATE INDEX "dead_letter_open" ON "payouts"."dead_letter" USING btree ("consumer") WHERE "payouts"."dead_letter"."redriven_at" is null;--> statement-breakpoint
CREATE INDEX "inbox_done" ON "payouts"."inbox" USING btree ("consumer","done_at") WHERE "payouts"."inbox"."done_at" is not null;--> statement-breakpoint
CREATE INDEX "journal_item" ON "payouts"."journal" USING btree ("item");--> statement-breakpoint
CREATE INDEX "journal_booked" ON "payouts"."journal" USING btree ("booked_at");--> statement-breakpoint
CREATE UNIQUE INDEX "journal_reversed" ON "payouts"."journal" USING btree ("reverses","line") WHERE reverses is not null;--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "payouts"."outbox" USING btree ("position") WHERE "payouts"."outbox"."published_at" is null;--> statement-breakpoint
CREATE INDEX "outbox_published" ON "payouts"."outbox" USING btree ("published_at") WHERE "payouts"."outbox"."published_at" is not null;