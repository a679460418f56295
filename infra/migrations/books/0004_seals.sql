CREATE TABLE "books"."seals" (
	"journal" text NOT NULL,
	"number" integer NOT NULL,
	"from_transaction" bigint NOT NULL,
	"to_transaction" bigint NOT NULL,
	"lines" integer NOT NULL,
	"hash" text NOT NULL,
	"sealed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "seals_journal_number_pk" PRIMARY KEY("journal","number")
);
--> statement-breakpoint
-- Without a default at first: Postgres would rewrite the whole journal for one that differs in each row.
ALTER TABLE "books"."journal" ADD COLUMN "booked_in" bigint;--> statement-breakpoint
ALTER TABLE "books"."journal" ALTER COLUMN "booked_in" SET DEFAULT (pg_current_xact_id()::text)::bigint;--> statement-breakpoint
CREATE INDEX "journal_booked_in" ON "books"."journal" USING brin ("booked_in");