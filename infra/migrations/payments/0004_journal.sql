CREATE TABLE "payments"."journal" (
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
	CONSTRAINT "journal_account" CHECK ("payments"."journal"."account" in ('provider_id', 'provider_my', 'treasury', 'credit_line', 'lanes', 'clawback', 'promises', 'collateral', 'collateral_held', 'repaid', 'repaid_held', 'payouts', 'returns', 'suspense', 'exchange', 'spread', 'capital', 'fees', 'waived', 'gas', 'drips')),
	CONSTRAINT "journal_asset" CHECK ("payments"."journal"."asset" in ('AUSD', 'IDR', 'MYR', 'MON')),
	CONSTRAINT "journal_amount" CHECK ("payments"."journal"."amount" <> 0)
);
--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "spread_bps" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
CREATE INDEX "journal_item" ON "payments"."journal" USING btree ("item");--> statement-breakpoint
CREATE INDEX "journal_booked" ON "payments"."journal" USING btree ("booked_at");--> statement-breakpoint
CREATE INDEX "payments_changed" ON "payments"."payments" USING btree ("changed_at");