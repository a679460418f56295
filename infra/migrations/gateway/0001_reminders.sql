CREATE TABLE "gateway"."reminders" (
	"wallet" text NOT NULL,
	"cycle" integer NOT NULL,
	"kind" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reminders_wallet_cycle_kind_pk" PRIMARY KEY("wallet","cycle","kind")
);
