CREATE SCHEMA IF NOT EXISTS "books";
--> statement-breakpoint
CREATE TABLE "books"."balances" (
	"place" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"block" bigint,
	"nonce" integer,
	"read_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "balances_place_asset_pk" PRIMARY KEY("place","asset")
);
--> statement-breakpoint
CREATE TABLE "books"."breaks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "books"."breaks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"rule" text NOT NULL,
	"item" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"about" text NOT NULL,
	"found_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"owner" text,
	"reason" text,
	"rests_until" timestamp (3) with time zone,
	CONSTRAINT "breaks_owner" CHECK ((owner is null) = (reason is null))
);
--> statement-breakpoint
CREATE TABLE "books"."chain_moves" (
	"tx_hash" text NOT NULL,
	"log_index" integer NOT NULL,
	"block" bigint NOT NULL,
	"moved_at" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"key" text,
	"wallet" text NOT NULL,
	"ausd_micro" numeric(78,0) NOT NULL,
	"held" boolean DEFAULT false NOT NULL,
	CONSTRAINT "chain_moves_tx_hash_log_index_pk" PRIMARY KEY("tx_hash","log_index")
);
--> statement-breakpoint
CREATE TABLE "books"."checkpoints" (
	"source" text PRIMARY KEY NOT NULL,
	"block" bigint,
	"read_to" timestamp (3) with time zone NOT NULL,
	"noted_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "books"."journal" (
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
	CONSTRAINT "journal_account" CHECK ("books"."journal"."account" in ('provider_id', 'provider_my', 'treasury', 'credit_line', 'lanes', 'clawback', 'promises', 'collateral', 'collateral_held', 'repaid', 'repaid_held', 'payouts', 'returns', 'suspense', 'exchange', 'spread', 'capital', 'fees', 'waived', 'gas', 'drips')),
	CONSTRAINT "journal_asset" CHECK ("books"."journal"."asset" in ('AUSD', 'IDR', 'MYR', 'MON')),
	CONSTRAINT "journal_amount" CHECK ("books"."journal"."amount" <> 0)
);
--> statement-breakpoint
CREATE TABLE "books"."names" (
	"key" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"item" text NOT NULL,
	"ref_sequence" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "books"."provider_moves" (
	"account" text NOT NULL,
	"transaction_id" text NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"reference" text,
	"product_id" text,
	"currency" text,
	"amount_minor" numeric(78,0),
	"cashflow" text,
	"fee_minor" numeric(78,0),
	"created_at" timestamp (3) with time zone,
	"changed_at" timestamp (3) with time zone,
	"read_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "provider_moves_account_transaction_id_pk" PRIMARY KEY("account","transaction_id")
);
--> statement-breakpoint
CREATE TABLE "books"."runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "books"."runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"started_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	"whole" boolean NOT NULL,
	"items" integer NOT NULL,
	"open" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "books"."totals" (
	"source" text NOT NULL,
	"account" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	CONSTRAINT "totals_source_account_asset_pk" PRIMARY KEY("source","account","asset")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "breaks_open" ON "books"."breaks" USING btree ("rule","item","asset") WHERE closed_at is null;--> statement-breakpoint
CREATE INDEX "breaks_item" ON "books"."breaks" USING btree ("item");--> statement-breakpoint
CREATE INDEX "chain_moves_key" ON "books"."chain_moves" USING btree ("key");--> statement-breakpoint
CREATE INDEX "chain_moves_block" ON "books"."chain_moves" USING btree ("block");--> statement-breakpoint
CREATE INDEX "journal_item" ON "books"."journal" USING btree ("item");--> statement-breakpoint
CREATE INDEX "journal_booked" ON "books"."journal" USING btree ("booked_at");--> statement-breakpoint
CREATE UNIQUE INDEX "journal_reversed" ON "books"."journal" USING btree ("reverses","line") WHERE reverses is not null;--> statement-breakpoint
CREATE INDEX "names_item" ON "books"."names" USING btree ("item");--> statement-breakpoint
CREATE INDEX "provider_moves_reference" ON "books"."provider_moves" USING btree ("reference");--> statement-breakpoint
CREATE INDEX "provider_moves_product" ON "books"."provider_moves" USING btree ("product_id");--> statement-breakpoint
CREATE INDEX "provider_moves_read" ON "books"."provider_moves" USING btree ("read_at");--> statement-breakpoint
CREATE INDEX "runs_ended" ON "books"."runs" USING btree ("ended_at");